/** A fenced block of a Markdown page. */
export interface CodeBlock {
  /** Line of the opening fence, from 1. */
  readonly line: number;
  /** Index in the page after the closing fence. */
  readonly end: number;
  /** The text after the fence: "sh no-run". */
  readonly info: string;
  readonly text: string;
}
export declare function parseCodeBlocks(markdown: string): CodeBlock[];

export declare const commandsOf: (text: string) => string[];

export interface CommandOutput {
  readonly command: string;
  readonly status: number;
  readonly output: string;
}

export declare class DocsSandbox {
  readonly folder: string;
  /** @param variables additional environment variables */
  constructor(variables?: NodeJS.ProcessEnv);
  /** Runs a shell line; `$?` is the status of the previous line. The output combines stdout and stderr. */
  run(command: string): Promise<CommandOutput>;
  read(name: string): string;
  remove(): void;
}
