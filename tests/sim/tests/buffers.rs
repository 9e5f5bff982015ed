// SPDX-License-Identifier: GPL-2.0

//! Receive buffer regions that are too small for what comes: 16 bpages are
//! enough for one message of the largest size.

use homa_sim::clock::ms;
use homa_sim::ledger::Order;
use homa_sim::scenario::Scenario;
use homa_sim::script::Script;
use homa_sim::script::SHORT;

/// Hosts with the smallest region that the longest message fits into.
fn tight(hosts: u32) -> Script {
    Script::with(Scenario {
        bpages: 16,
        mtu: 60_076,
        ..Scenario::quiet(hosts)
    })
}

const LARGE: Order = Order {
    request: 1_000_000,
    ..SHORT
};

#[test]
fn server_out_of_buffers_recovers() {
    let mut s = tight(3);
    // The tail of the first message is lost, so that it keeps its memory.
    s.lose("h0>h1 DATA 940000..1000000/1000000");
    s.call(LARGE);
    s.until(ms(1));
    s.expect("..");
    s.call(Order {
        client: 2,
        request: 100_000,
        ..SHORT
    });
    s.until(ms(6));
    s.expect(
        "1.000000 h2 #1 calls h1, 100000 bytes for 200
         1.000000 h2>h1 #1 DATA 0..40000/100000
         5.090000 h1>h0 #0 RESEND 940000..1000000
         5.100000 h0>h1 #0 RESEND all
         5.100000 h0>h1 #0 DATA 940000..1000000/1000000 again
         5.110000 h1>h0 #0 BUSY
         5.110000 h1 #0 request taken
         5.110000 h1>h2 #1 RESEND all
         5.110000 h1>h2 #1 GRANT 100000
         5.110000 h1 #0 replies, 200 bytes
         5.110000 h1>h0 #0 DATA 0..200/200
         5.120000 h2>h1 #1 DATA 0..40000/100000 again
         5.120000 h2>h1 #1 DATA 40000..100000/100000
         5.120000 h0 #0 response taken
         5.130000 h1 #1 request taken
         5.130000 h1 #1 replies, 200 bytes
         5.130000 h1>h2 #1 DATA 0..200/200
         5.140000 h2 #1 response taken",
    );
    s.finish();
}

#[test]
fn client_of_a_server_without_buffers_is_told_that_it_is_busy() {
    let mut s = tight(3);
    s.lose_many(3, "h0>h1 DATA 940000..1000000/1000000");
    s.call(LARGE);
    s.until(ms(1));
    s.expect("..");
    s.call(Order {
        client: 2,
        request: 100_000,
        ..SHORT
    });
    s.until(ms(20));
    s.expect(
        "..
         6.000000 h2>h1 #1 RESEND all
         6.010000 h1>h2 #1 BUSY
         ..
         16.020000 h2>h1 #1 RESEND all
         16.030000 h1>h2 #1 BUSY
         ..",
    );
    s.finish();
}

#[test]
fn client_out_of_buffers_recovers() {
    let mut s = tight(3);
    s.lose("h1>h0 DATA 940000..1000000/1000000");
    s.call(Order {
        response: 1_000_000,
        ..SHORT
    });
    s.until(ms(1));
    s.expect("..");
    s.call(Order {
        server: 2,
        response: 50_000,
        ..SHORT
    });
    s.until(ms(3));
    s.expect(
        "1.000000 h0 #1 calls h2, 100 bytes for 50000
         1.000000 h0>h2 #1 DATA 0..100/100
         1.010000 h2 #1 request taken
         1.010000 h2 #1 replies, 50000 bytes
         1.010000 h2>h0 #1 DATA 0..40000/50000
         2.110000 h1>h0 #0 NEED_ACK
         2.120000 h0>h1 #0 RESEND 940000..1000000
         2.130000 h1>h0 #0 DATA 940000..1000000/1000000 again
         2.140000 h0 #0 response taken
         2.140000 h0>h2 #1 RESEND all
         2.140000 h0>h2 #1 GRANT 50000
         2.150000 h2>h0 #1 DATA 0..40000/50000 again
         2.150000 h2>h0 #1 DATA 40000..50000/50000
         2.160000 h0 #1 response taken",
    );
    s.finish();
}

#[test]
fn memory_goes_to_the_shortest_message_that_waits() {
    let mut s = tight(5);
    s.lose("h0>h1 DATA 940000..1000000/1000000");
    s.call(LARGE);
    s.until(ms(1));
    // The first bpage is shared; the short message finds room in it.
    for (client, request) in [(2, 900_000), (3, 70_000), (4, 200)] {
        s.call(Order {
            client,
            request,
            ..SHORT
        });
    }
    s.until(ms(2));
    s.expect(
        "..
         1.010000 h1 #3 request taken
         ..",
    );
    s.until(5_110_000);
    s.expect(
        "..
         5.110000 h1>h3 #2 RESEND all
         5.110000 h1>h3 #2 GRANT 70000
         5.110000 h1>h2 #1 RESEND all
         5.110000 h1>h2 #1 GRANT 200000
         ..",
    );
    s.finish();
}
