import { PartialSource } from "./partial-source.js";
import { AddressSource, FileSource, type HostSource, type SourceSpec } from "./source.js";

/** Creates the source that another thread described. @throws input-missing, input-unreadable */
export function createSource(spec: SourceSpec, signal: AbortSignal): HostSource {
  if (spec.isAddress) return new AddressSource(spec.path);
  if (spec.partial) return new PartialSource(spec.name, spec.path, spec.partial, signal);
  const file = FileSource.at(spec.path, spec.name, spec.isFolder);
  return spec.entries ? file.withEntries(spec.entries) : file;
}
