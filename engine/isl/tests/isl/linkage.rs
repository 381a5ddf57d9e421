//! Programs say truly whether they bring isl along.

/// What is mapped into this process says whether a shared isl, or what it computes with, was looked for.
#[cfg(target_os = "linux")]
#[test]
fn a_program_with_isl_inside_needs_no_shared_one() {
    let mapped = std::fs::read_to_string("/proc/self/maps").unwrap();
    let needed = ["libisl.", "libgmp."].map(|name| mapped.contains(name));
    assert_eq!(needed, [!crease_isl::is_static(); 2], "{}", crease_isl::library());
}

#[test]
fn the_library_is_named_with_its_version() {
    let library = crease_isl::library();
    assert!(library.starts_with("isl-0.") && library.contains(", linked "), "{library}");
}
