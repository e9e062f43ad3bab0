export interface ProjReference {
  ask(request: object): Promise<unknown>;
  close(): void;
}

export interface ProjVersions {
  readonly proj: string;
  readonly epsg: string;
}

export function projReference(library?: string, database?: string, grids?: string): ProjReference;
export function keptAnswers(versions: ProjVersions): {
  readonly path: string;
  readonly size: number;
  before(reference: ProjReference): ProjReference;
};
