import { delimiter } from "node:path";

/** The files and folders that `GEOFERRY_GRIDS` names, as PATH names folders. */
export const gridFolders = (environment: NodeJS.ProcessEnv): string[] =>
  (environment.GEOFERRY_GRIDS ?? "").split(delimiter).filter((folder) => folder !== "");
