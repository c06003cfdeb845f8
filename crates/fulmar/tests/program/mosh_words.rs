//! Our starter beside stock's: the same command lines, with programs that write down what they are
//! given in place of ssh, client and server.
//!
//! What is compared: the words, the environment, the folder and the standard input that each
//! program was started with; what the starter itself prints on standard output; whether it
//! complains; and its status, which is the client's if there is one. Texts are not compared.

mod cases;
mod fakes;
mod otherwise;
