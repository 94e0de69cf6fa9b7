//! A job that runs, looked at: pure rules over what was sampled.
