// SPDX-License-Identifier: GPL-2.0

//! Checks that `src/` names nothing of the `kernel` crate beyond `surface.txt`, so that every face
//! of that crate can build it.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

const LIST: &str = include_str!("surface.txt");

/// Returns the paths of the list that have one of these scopes.
fn allowed(scopes: &[&str]) -> Vec<&'static str> {
    LIST.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .filter(|(scope, _)| scopes.contains(scope))
        .map(|(_, path)| path)
        .collect()
}

/// Returns the Rust files below a folder, without those of tests, which run on the hosted face
/// only.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("src/ can be listed") {
        let path = entry.expect("src/ can be listed").path();
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns a line without its comment and without what its string literals hold.
fn code(line: &str) -> String {
    let mut code = String::new();
    let mut in_text = false;
    let mut previous = ' ';
    for (i, character) in line.char_indices() {
        if !in_text && line[i..].starts_with("//") {
            break;
        }
        let escaped = in_text && previous == '\\';
        if character == '"' && !escaped && previous != '\'' {
            in_text = !in_text;
        }
        if !in_text {
            code.push(character);
        }
        previous = if escaped { ' ' } else { character };
    }
    code
}

/// Returns the paths that follow `kernel::` in a line of code.
fn paths(code: &str) -> Vec<&str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices("kernel::")
        .filter(|(at, _)| !code[..*at].ends_with(|before| is_word(before) || before == ':'))
        .map(|(at, name)| {
            let rest = &code[at + name.len()..];
            let end = rest
                .find(|character| !(is_word(character) || ":*{".contains(character)))
                .unwrap_or(rest.len());
            rest[..end].trim_end_matches("::")
        })
        .collect()
}

/// Returns the uses of `kernel` in these files that the list does not have.
fn outside(files: &[PathBuf], scopes: &[&str]) -> Vec<String> {
    let allowed = allowed(scopes);
    let mut wrong = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).expect("sources can be read");
        for (number, line) in (1..).zip(text.lines()) {
            for path in paths(&code(line)) {
                if !allowed.contains(&path) {
                    wrong.push(format!("{}:{number}: kernel::{path}", file.display()));
                }
            }
        }
    }
    wrong
}

/// Returns the sources of the engine, and those of the module.
fn engine_and_module() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src");
    let engine = src.join("proto");
    sources(&src)
        .into_iter()
        .partition(|file| file.starts_with(&engine))
}

#[test]
fn the_engine_uses_memory_only() {
    let wrong = outside(&engine_and_module().0, &["engine"]);
    assert!(wrong.is_empty(), "not in surface.txt: {wrong:#?}");
}

#[test]
fn the_module_uses_what_is_listed() {
    let wrong = outside(&engine_and_module().1, &["engine", "module"]);
    assert!(wrong.is_empty(), "not in surface.txt: {wrong:#?}");
}

/// The stand-in would write addresses as they are, where the genuine crate hashes them.
#[test]
fn no_address_is_formatted() {
    let (engine, module) = engine_and_module();
    for file in engine.iter().chain(&module) {
        let text = fs::read_to_string(file).expect("sources can be read");
        for (number, line) in (1..).zip(text.lines()) {
            let formats = line
                .split('{')
                .filter_map(|rest| rest.split_once('}'))
                .filter_map(|(inside, _)| inside.split_once(':'))
                .any(|(_, format)| format.ends_with('p'));
            assert!(!formats, "{}:{number}: {line}", file.display());
        }
    }
}

#[test]
fn finds_paths() {
    let found =
        |line: &str| -> Vec<String> { paths(&code(line)).into_iter().map(String::from).collect() };
    assert_eq!(found("use kernel::prelude::*;"), ["prelude::*"]);
    assert_eq!(
        found("use kernel::alloc::{Flags, KVec};"),
        ["alloc::{Flags"]
    );
    assert_eq!(found("use kernel::{alloc, error};"), ["{alloc"]);
    assert_eq!(
        found("kernel::alloc::KVec::<u8>::new(); kernel::kvec![1]"),
        ["alloc::KVec", "kvec"]
    );
    assert_eq!(found("/// [`kernel::foo`]"), [""; 0]);
    assert_eq!(found("f(\"kernel::\\\"foo\"); // kernel::bar"), [""; 0]);
    assert_eq!(found("a(\"http://x\", kernel::bar)"), ["bar"]);
    assert_eq!(found("uses(my_kernel::foo, other::kernel::foo)"), [""; 0]);
}
