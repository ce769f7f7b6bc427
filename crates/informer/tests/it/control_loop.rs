//! The example of the classic picture, as a test.

#[path = "../../examples/control_loop.rs"]
#[allow(dead_code, reason = "a program's main is not called here")]
mod example;

#[tokio::test]
async fn both_queues_tell_the_same_of_each_key() {
    example::compare().await.unwrap();
}
