fn main(){ let n=std::env::args().nth(1).unwrap(); println!("{}", (crease_kernels::find(&n).unwrap().text)()); }
