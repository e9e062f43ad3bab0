/**
 * Creates instances of a kernel, each with its own memory. A thread compiles it at the first call.
 * @param wasm the module in base64, as in the folders `compiled`
 */
export function createKernelFactory<Exports>(wasm: string): () => Exports {
  let compiled: WebAssembly.Module | undefined;
  return () => {
    compiled ??= new WebAssembly.Module(Buffer.from(wasm, "base64"));
    return new WebAssembly.Instance(compiled).exports as unknown as Exports;
  };
}
