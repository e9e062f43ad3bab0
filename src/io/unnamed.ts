/** A file that is whole on the disk and has not its name yet. */
export interface Unnamed {
  readonly path: string;
  readonly final: string;
}
