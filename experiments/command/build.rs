//! Links the command at fixed addresses on Linux. Otherwise, the dynamic linker writes 55,000 addresses into
//! the data of the program at every start.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
