//! Bug stories of other queues, one file each.

mod wq_01;
mod wq_02;
mod wq_03;
mod wq_04;
mod wq_05;
