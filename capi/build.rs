//! Sets the name of the shared library for the dynamic linker, so that programs keep working with later
//! versions of the same interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let name = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => "-Wl,-soname,libplimsoll.so.0",
        Ok("macos") => "-Wl,-install_name,@rpath/libplimsoll.0.dylib",
        _ => return,
    };
    println!("cargo::rustc-cdylib-link-arg={name}");
}
