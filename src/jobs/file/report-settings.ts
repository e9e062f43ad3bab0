/** The report settings of a job file, read even if the file is invalid or a variable is not set. */
import type { OnFailure, Reports } from "../job.js";
import { resolveReferences } from "./references.js";
import { onFailureMembers } from "./schema.js";
import { path, text, type ValueKind } from "./value-kinds.js";
import { readPartialMembers, type YamlPlace } from "./yaml-places.js";

export interface ReportSettings {
  readonly name: string | null;
  readonly onFailure: OnFailure | null;
  readonly reports: Reports;
  /** Members that the file has or may have and that cannot be read: "onFailure.webhook" */
  readonly unreadable: readonly string[];
}

/** Never throws. @param contents of the job file @param file for messages */
export function readReportSettings(contents: string, file: string, environment: NodeJS.ProcessEnv): ReportSettings {
  const { members, isComplete } = readPartialMembers(contents, file);
  const unreadable: string[] = [];
  const read = <T>(place: YamlPlace, kind: ValueKind<T>): T | undefined => {
    try {
      return kind.read(resolveReferences(place, environment));
    } catch {
      unreadable.push(place.title);
      return undefined;
    }
  };
  const member = <T>(name: string, kind: ValueKind<T>): T | undefined => {
    const place = members.get(name);
    if (place) return read(place, kind);
    if (!isComplete && new RegExp(`\\b${name}\\b`).test(contents)) unreadable.push(name);
    return undefined;
  };
  const onFailure: { command?: string; webhook?: string } = {};
  const place = members.get("onFailure");
  if (typeof place?.value === "object" && place.value !== null)
    for (const name of ["command", "webhook"] as const) {
      const value = (place.value as Record<string, unknown>)[name];
      const found = value === undefined ? undefined : read(place.at(name, value), onFailureMembers[name].kind);
      if (found !== undefined) onFailure[name] = found;
    }
  else member("onFailure", notAnObject);
  const [json, html, metrics] = [member("report", path), member("page", path), member("metrics", path)];
  return {
    name: member("name", text) ?? null,
    onFailure: Object.keys(onFailure).length > 0 ? onFailure : null,
    reports: {
      ...(json !== undefined && { json }),
      ...(html !== undefined && { html }),
      ...(metrics !== undefined && { metrics }),
    },
    unreadable,
  };
}

const notAnObject: ValueKind<never> = {
  schema: {},
  read(place) {
    throw place.expectedError("an object");
  },
};
