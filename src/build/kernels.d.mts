/** The path and the text of each compiled kernel. */
export function compileKernels(): Promise<{ readonly path: string; readonly text: string }[]>;
