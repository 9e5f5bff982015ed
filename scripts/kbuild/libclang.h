/* SPDX-License-Identifier: GPL-2.0 */
/* Makes bindgen say which libclang it uses. */
#pragma message("homa_clang " __clang_version__)
