//! Sets the name of the shared library for the dynamic linker, so that programs keep working with later
//! versions of the same interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libplimsoll.so.0");
    }
}
