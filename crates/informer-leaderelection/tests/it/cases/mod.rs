//! Public bug cases, named after their id.

mod kube_6_2;
mod le_01;
mod le_02;
mod le_03;
mod le_04;
