/** A file that is whole on the disk and has not its name yet. */
export interface StagedFile {
  readonly path: string;
  readonly finalPath: string;
  /** By which it is known under its name, where that is not what the file itself says. */
  readonly stamp?: string;
}
