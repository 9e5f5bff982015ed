// SPDX-License-Identifier: GPL-2.0

//! The protocol's packet sequences, one test each, with every packet and its
//! time in milliseconds. A packet takes 0.01 ms and carries up to 1424 bytes.

use homa_sim::clock::ms;
use homa_sim::ledger::Order;
use homa_sim::scenario::Scenario;
use homa_sim::script::Script;
use homa_sim::script::SHORT;

/// Hosts with packets of up to 20,000 bytes, for messages of many bytes.
fn jumbo() -> Script {
    Script::with(Scenario {
        mtu: 20_076,
        ..Scenario::quiet(2)
    })
}

#[test]
fn short_rpc() {
    let mut s = Script::new(2);
    s.call(SHORT);
    s.finish();
    s.expect(
        "0.000000 h0 #0 calls h1, 100 bytes for 200
         0.000000 h0>h1 #0 DATA 0..100/100
         0.010000 h1 #0 request taken
         0.010000 h1 #0 replies, 200 bytes
         0.010000 h1>h0 #0 DATA 0..200/200
         0.020000 h0 #0 response taken
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 ACK +1
         2.030000 h1 #0 forgotten: Acked",
    );
}

#[test]
fn ack_travels_with_the_next_request() {
    let mut s = Script::new(2);
    s.call(SHORT);
    s.until(ms(1));
    s.expect("..");
    s.call(SHORT);
    s.until(ms(2));
    s.expect(
        "1.000000 h0 #1 calls h1, 100 bytes for 200
         1.000000 h0>h1 #1 DATA 0..100/100 +ack
         1.010000 h1 #0 forgotten: Acked
         1.010000 h1 #1 request taken
         1.010000 h1 #1 replies, 200 bytes
         1.010000 h1>h0 #1 DATA 0..200/200
         1.020000 h0 #1 response taken",
    );
    s.finish();
}

#[test]
fn sixth_ack_makes_a_packet_of_its_own() {
    let mut s = Script::new(2);
    for _ in 0..6 {
        s.call(SHORT);
    }
    s.finish();
    s.expect(
        "..
         0.020000 h0 #3 response taken
         0.020000 h0 #4 response taken
         0.020000 h0>h1 #5 ACK +5
         0.020000 h0 #5 response taken
         0.030000 h1 #5 forgotten: Acked
         0.030000 h1 #0 forgotten: Acked
         0.030000 h1 #1 forgotten: Acked
         0.030000 h1 #2 forgotten: Acked
         0.030000 h1 #3 forgotten: Acked
         0.030000 h1 #4 forgotten: Acked",
    );
}

#[test]
fn application_that_has_not_read_the_response_does_not_delay_the_ack() {
    let mut s = Script::new(2);
    s.call(Order {
        reading: ms(50),
        ..SHORT
    });
    s.finish();
    s.expect(
        "..
         0.010000 h1>h0 #0 DATA 0..200/200
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 ACK +0
         2.030000 h1 #0 forgotten: Acked
         50.020000 h0 #0 response taken",
    );
}

#[test]
fn long_request() {
    let mut s = jumbo();
    s.call(Order {
        request: 300_000,
        ..SHORT
    });
    s.until(ms(1));
    s.expect(
        "0.000000 h0 #0 calls h1, 300000 bytes for 200
         0.000000 h0>h1 #0 DATA 0..20000/300000
         0.000000 h0>h1 #0 DATA 20000..40000/300000
         0.010000 h1>h0 #0 GRANT 220000
         0.020000 h0>h1 #0 DATA 40000..60000/300000
         0.020000 h0>h1 #0 DATA 60000..80000/300000
         0.020000 h0>h1 #0 DATA 80000..100000/300000
         0.020000 h0>h1 #0 DATA 100000..120000/300000
         0.020000 h0>h1 #0 DATA 120000..140000/300000
         0.020000 h0>h1 #0 DATA 140000..160000/300000
         0.020000 h0>h1 #0 DATA 160000..180000/300000
         0.020000 h0>h1 #0 DATA 180000..200000/300000
         0.020000 h0>h1 #0 DATA 200000..220000/300000
         0.030000 h1>h0 #0 GRANT 260000
         0.030000 h1>h0 #0 GRANT 300000
         0.040000 h0>h1 #0 DATA 220000..240000/300000
         0.040000 h0>h1 #0 DATA 240000..260000/300000
         0.040000 h0>h1 #0 DATA 260000..280000/300000
         0.040000 h0>h1 #0 DATA 280000..300000/300000
         0.050000 h1 #0 request taken
         0.050000 h1 #0 replies, 200 bytes
         0.050000 h1>h0 #0 DATA 0..200/200
         0.060000 h0 #0 response taken",
    );
    s.finish();
}

#[test]
fn lost_tail() {
    let mut s = Script::new(2);
    s.lose("h0>h1 DATA 2848..3000/3000");
    s.call(Order {
        request: 3_000,
        ..SHORT
    });
    s.until(ms(6));
    s.expect(
        "0.000000 h0 #0 calls h1, 3000 bytes for 200
         0.000000 h0>h1 #0 DATA 0..1424/3000
         0.000000 h0>h1 #0 DATA 1424..2848/3000
         0.000000 h0>h1 #0 DATA 2848..3000/3000 lost
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 RESEND 2848..3000
         5.010000 h1>h0 #0 BUSY
         5.020000 h0>h1 #0 DATA 2848..3000/3000 again
         5.030000 h1 #0 request taken
         5.030000 h1 #0 replies, 200 bytes
         5.030000 h1>h0 #0 DATA 0..200/200
         5.040000 h0 #0 response taken",
    );
    s.finish();
}

#[test]
fn lost_middle_of_a_response() {
    let mut s = Script::new(2);
    s.lose("h1>h0 DATA 1424..2848/6000");
    s.lose("h1>h0 DATA 4272..5696/6000");
    s.call(Order {
        response: 6_000,
        ..SHORT
    });
    s.until(ms(10));
    s.expect(
        "..
         0.010000 h1>h0 #0 DATA 0..1424/6000
         0.010000 h1>h0 #0 DATA 1424..2848/6000 lost
         0.010000 h1>h0 #0 DATA 2848..4272/6000
         0.010000 h1>h0 #0 DATA 4272..5696/6000 lost
         0.010000 h1>h0 #0 DATA 5696..6000/6000
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 RESEND 1424..2848
         2.020000 h0>h1 #0 RESEND 4272..5696
         2.030000 h1>h0 #0 DATA 1424..2848/6000 again
         2.030000 h1>h0 #0 DATA 4272..5696/6000 again
         2.040000 h0 #0 response taken
         4.030000 h1>h0 #0 NEED_ACK
         4.040000 h0>h1 #0 ACK +1
         4.050000 h1 #0 forgotten: Acked",
    );
    s.finish();
}

#[test]
fn lost_grant() {
    let mut s = jumbo();
    s.lose("h1>h0 GRANT");
    s.call(Order {
        request: 50_000,
        ..SHORT
    });
    s.until(ms(6));
    s.expect(
        "0.000000 h0 #0 calls h1, 50000 bytes for 200
         0.000000 h0>h1 #0 DATA 0..20000/50000
         0.000000 h0>h1 #0 DATA 20000..40000/50000
         0.010000 h1>h0 #0 GRANT 50000 lost
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 RESEND 40000..50000
         5.010000 h1>h0 #0 BUSY
         5.020000 h0>h1 #0 BUSY
         5.020000 h0>h1 #0 DATA 40000..50000/50000
         5.030000 h1 #0 request taken
         5.030000 h1 #0 replies, 200 bytes
         5.030000 h1>h0 #0 DATA 0..200/200
         5.040000 h0 #0 response taken",
    );
    s.finish();
}

#[test]
fn lost_request() {
    let mut s = Script::new(2);
    s.lose_many(2, "h0>h1 DATA");
    s.call(Order {
        request: 2_000,
        ..SHORT
    });
    s.until(ms(6));
    s.expect(
        "0.000000 h0 #0 calls h1, 2000 bytes for 200
         0.000000 h0>h1 #0 DATA 0..1424/2000 lost
         0.000000 h0>h1 #0 DATA 1424..2000/2000 lost
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 UNKNOWN
         5.020000 h0>h1 #0 DATA 0..1424/2000 again
         5.020000 h0>h1 #0 DATA 1424..2000/2000 again
         5.030000 h1 #0 request taken
         5.030000 h1 #0 replies, 200 bytes
         5.030000 h1>h0 #0 DATA 0..200/200
         5.040000 h0 #0 response taken",
    );
    s.finish();
}

#[test]
fn lost_response() {
    let mut s = Script::new(2);
    s.lose("h1>h0 DATA");
    s.call(SHORT);
    s.until(ms(10));
    s.expect(
        "..
         0.010000 h1>h0 #0 DATA 0..200/200 lost
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 RESEND all
         2.030000 h1>h0 #0 DATA 0..200/200 again
         2.040000 h0 #0 response taken
         4.030000 h1>h0 #0 NEED_ACK
         4.040000 h0>h1 #0 ACK +1
         4.050000 h1 #0 forgotten: Acked",
    );
    s.finish();
}

#[test]
fn lost_ack() {
    let mut s = Script::new(2);
    s.lose("h0>h1 ACK");
    s.call(SHORT);
    s.finish();
    s.expect(
        "..
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 ACK +1 lost
         6.010000 h1>h0 #0 NEED_ACK
         6.020000 h0>h1 #0 ACK +0
         6.030000 h1 #0 forgotten: Acked",
    );
}

#[test]
fn slow_server_says_busy() {
    let mut s = Script::new(2);
    s.call(Order {
        service: ms(100),
        ..SHORT
    });
    s.until(ms(101));
    s.expect(
        "0.000000 h0 #0 calls h1, 100 bytes for 200
         0.000000 h0>h1 #0 DATA 0..100/100
         0.010000 h1 #0 request taken
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 BUSY
         15.020000 h0>h1 #0 RESEND all
         15.030000 h1>h0 #0 BUSY
         35.040000 h0>h1 #0 RESEND all
         35.050000 h1>h0 #0 BUSY
         75.060000 h0>h1 #0 RESEND all
         75.070000 h1>h0 #0 BUSY
         100.010000 h1 #0 replies, 200 bytes
         100.010000 h1>h0 #0 DATA 0..200/200
         100.020000 h0 #0 response taken",
    );
    s.finish();
}

#[test]
fn server_that_is_busy_for_long_is_waited_for() {
    let mut s = Script::new(2);
    s.call(Order {
        service: ms(10_000),
        ..SHORT
    });
    s.finish();
    s.expect(
        "..
         10000.020000 h0 #0 response taken
         ..",
    );
}

#[test]
fn dead_server() {
    let mut s = Script::new(2);
    s.world().power_off(1).unwrap();
    s.call(SHORT);
    s.finish();
    s.expect(
        "0.000000 h1 down
         0.000000 h0 #0 calls h1, 100 bytes for 200
         0.000000 h0>h1 #0 DATA 0..100/100
         5.000000 h0>h1 #0 RESEND all
         15.000000 h0>h1 #0 RESEND all
         35.000000 h0>h1 #0 RESEND all
         75.000000 h0>h1 #0 RESEND all
         155.000000 h0>h1 #0 RESEND all
         255.000000 h0>h1 #0 RESEND all
         355.000000 h0>h1 #0 RESEND all
         455.000000 h0>h1 #0 RESEND all
         555.000000 h0>h1 #0 RESEND all
         655.000000 h0>h1 #0 RESEND all
         755.000000 h0>h1 #0 RESEND all
         855.000000 h0>h1 #0 RESEND all
         955.000000 h0>h1 #0 RESEND all
         1000.000000 h0 #0 failed: TimedOut",
    );
}

#[test]
fn server_that_restarts_before_it_answers_runs_the_request() {
    let mut s = Script::new(2);
    s.call(Order {
        service: ms(10_000),
        ..SHORT
    });
    s.until(ms(1));
    s.world().power_off(1).unwrap();
    s.world().power_on(1);
    s.until(ms(6));
    s.expect(
        "..
         1.000000 h1 down
         1.000000 h1 up
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 UNKNOWN
         5.020000 h0>h1 #0 DATA 0..100/100 again
         5.030000 h1 #0 request taken",
    );
    s.finish();
}

#[test]
fn server_that_restarts_amid_its_response_is_given_up() {
    let mut s = Script::new(2);
    s.lose("h1>h0 DATA 0..1424/2000");
    s.call(Order {
        response: 2_000,
        ..SHORT
    });
    s.until(ms(1));
    s.world().power_off(1).unwrap();
    s.world().power_on(1);
    s.expect("..");
    s.finish();
    s.expect(
        "5.020000 h0>h1 #0 RESEND 0..1424
         5.030000 h1>h0 #0 UNKNOWN
         5.040000 h0 packet without effect: Rpc(Unexpected)
         ..
         1000.020000 h0 #0 failed: TimedOut",
    );
}

#[test]
fn client_that_gave_up_lets_the_server_forget_the_request() {
    let mut s = Script::new(2);
    s.lose("h0>h1 DATA 0..1424/2000");
    let call = s.call(Order {
        request: 2_000,
        ..SHORT
    });
    s.until(ms(1));
    s.world().abandon(call).unwrap();
    s.finish();
    s.expect(
        "..
         1.000000 h0 #0 given up
         5.010000 h1>h0 #0 RESEND 0..1424
         5.020000 h0>h1 #0 UNKNOWN
         5.030000 h1 #0 forgotten: UnknownToClient",
    );
}

#[test]
fn client_that_gave_up_lets_the_server_forget_the_response() {
    let mut s = Script::new(2);
    let call = s.call(Order {
        service: ms(3),
        ..SHORT
    });
    s.until(ms(1));
    s.world().abandon(call).unwrap();
    s.finish();
    s.expect(
        "..
         3.010000 h1>h0 #0 DATA 0..200/200
         3.020000 h0 packet without effect: Stray(NoSuchRpc)
         5.010000 h1>h0 #0 NEED_ACK
         5.020000 h0>h1 #0 ACK +0
         5.030000 h1 #0 forgotten: Acked",
    );
}

#[test]
fn client_that_vanished_is_asked_for_its_request_for_a_second() {
    let mut s = Script::new(2);
    s.lose("h0>h1 DATA 0..1424/2000");
    s.call(Order {
        request: 2_000,
        ..SHORT
    });
    s.until(ms(1));
    s.world().power_off(0).unwrap();
    s.finish();
    s.expect(
        "..
         5.010000 h1>h0 #0 RESEND 0..1424
         15.010000 h1>h0 #0 RESEND 0..1424
         35.010000 h1>h0 #0 RESEND 0..1424
         75.010000 h1>h0 #0 RESEND 0..1424
         155.010000 h1>h0 #0 RESEND 0..1424
         ..
         955.010000 h1>h0 #0 RESEND 0..1424
         1000.010000 h1 #0 forgotten: Failed(TimedOut)",
    );
}

#[test]
fn client_that_vanished_is_asked_for_its_ack_for_a_second() {
    let mut s = Script::new(2);
    s.lose("h1>h0 DATA");
    s.call(SHORT);
    s.until(ms(1));
    s.world().power_off(0).unwrap();
    s.finish();
    s.expect(
        "..
         2.010000 h1>h0 #0 NEED_ACK
         6.010000 h1>h0 #0 NEED_ACK
         14.010000 h1>h0 #0 NEED_ACK
         30.010000 h1>h0 #0 NEED_ACK
         62.010000 h1>h0 #0 NEED_ACK
         126.010000 h1>h0 #0 NEED_ACK
         226.010000 h1>h0 #0 NEED_ACK
         ..
         926.010000 h1>h0 #0 NEED_ACK
         1000.010000 h1 #0 forgotten: Failed(TimedOut)",
    );
}

#[test]
fn client_that_vanished_amid_a_long_response_is_forgotten() {
    let mut s = jumbo();
    s.call(Order {
        response: 500_000,
        ..SHORT
    });
    s.until(15_000);
    s.world().power_off(0).unwrap();
    s.finish();
    s.expect(
        "..
         0.010000 h1>h0 #0 DATA 0..20000/500000
         0.010000 h1>h0 #0 DATA 20000..40000/500000
         0.015000 h0 down
         100.010000 h1>h0 #0 NEED_ACK
         ..
         1000.010000 h1 #0 forgotten: Failed(TimedOut)",
    );
}

#[test]
fn client_that_restarted_lets_the_server_forget_the_response() {
    let mut s = Script::new(2);
    s.lose("h1>h0 DATA");
    s.call(SHORT);
    s.until(ms(1));
    s.world().power_off(0).unwrap();
    s.world().power_on(0);
    s.finish();
    s.expect(
        "..
         2.010000 h1>h0 #0 NEED_ACK
         2.020000 h0>h1 #0 ACK +0
         2.030000 h1 #0 forgotten: Acked",
    );
}

#[test]
fn duplicates_and_late_packets_have_no_effect() {
    let mut s = Script::new(2);
    s.delay("h0>h1 DATA 1424..2848/3000", ms(5) + 5_000);
    s.call(Order {
        request: 3_000,
        ..SHORT
    });
    s.until(ms(6));
    s.expect(
        "..
         5.000000 h0>h1 #0 RESEND all
         5.010000 h1>h0 #0 RESEND 1424..2848
         5.010000 h1>h0 #0 BUSY
         5.015000 h1 #0 request taken
         5.015000 h1 #0 replies, 200 bytes
         5.015000 h1>h0 #0 DATA 0..200/200
         5.020000 h0>h1 #0 DATA 1424..2848/3000 again
         5.025000 h0 #0 response taken
         5.030000 h1 packet without effect: Rpc(Duplicate)",
    );
    s.finish();
}
