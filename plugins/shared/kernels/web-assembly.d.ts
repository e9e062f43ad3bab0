/** The part of WebAssembly's JavaScript interface (W3C, 2019) that kernels need; Node's types have none of it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: object;
  }
  interface Memory {
    /** Replaced when the memory grows. */
    readonly buffer: ArrayBuffer;
  }
}
