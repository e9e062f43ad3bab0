/** Attachments of features: counted, or downloaded into a folder (ArcGIS REST API, "Query attachments"). */
import { rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeFolders } from "../../../src/make-folders.js";
import { createError } from "../../../src/plugin/index.js";
import { integerOf, objectsOf, textOf } from "../../shared/json/values.js";
import type { ServiceLayer } from "./layer-list.js";
import { toObjectId } from "./layer-state.js";
import { RequestRefused, type ServiceClient } from "./service-client.js";

/** Features of one request. */
const maxIdsPerRequest = 200;
const maxNameLength = 120;

interface Attachment {
  readonly feature: number;
  readonly id: number;
  readonly name: string;
  /** In bytes; null if the service does not say it. */
  readonly size: number | null;
}

/** The attachments of features, for several features in a request where the service can do that. */
async function* listAttachments(
  client: ServiceClient,
  layer: ServiceLayer,
  ids: Float64Array,
): AsyncGenerator<Attachment> {
  let asksTogether = true;
  for (let from = 0; from < ids.length; from += maxIdsPerRequest) {
    const some = [...ids.subarray(from, from + maxIdsPerRequest)];
    if (asksTogether) {
      try {
        yield* await queryAttachments(client, layer, some);
        continue;
      } catch (error) {
        // Services before 10.5, and some map services, list those of one feature only.
        if (!(error instanceof RequestRefused)) throw error;
        asksTogether = false;
      }
    }
    for (const feature of some) {
      const { attachmentInfos } = await client.get(`/${layer.id}/${feature}/attachments`);
      yield* toAttachments(feature, attachmentInfos);
    }
  }
}

async function queryAttachments(
  client: ServiceClient,
  layer: ServiceLayer,
  ids: readonly number[],
): Promise<Attachment[]> {
  const { attachmentGroups } = await client.query(`/${layer.id}/queryAttachments`, { objectIds: ids.join(",") });
  if (!Array.isArray(attachmentGroups)) throw new RequestRefused({ code: 0, message: "its response has no groups" });
  return objectsOf(attachmentGroups).flatMap(({ parentObjectId, attachmentInfos }) => {
    const feature = toObjectId(parentObjectId);
    return feature === null ? [] : toAttachments(feature, attachmentInfos);
  });
}

const toAttachments = (feature: number, infos: unknown): Attachment[] =>
  objectsOf(infos).flatMap((info) => {
    const id = toObjectId(info.id);
    return id === null ? [] : [{ feature, id, name: textOf(info.name) ?? "attachment", size: integerOf(info.size) }];
  });

/** The number of attachments of the features. */
export async function countAttachments(client: ServiceClient, layer: ServiceLayer, ids: Float64Array): Promise<number> {
  let count = 0;
  for await (const _ of listAttachments(client, layer, ids)) count++;
  return count;
}

/** A name that is valid on every file system: the service's, without what some of them do not allow. */
function safeName(text: string): string {
  const clean = text
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}._ -]+/gu, "_")
    .replace(/^[. ]+|[. ]+$/g, "");
  if (clean.length <= maxNameLength) return clean === "" ? "file" : clean;
  const extension = /\.\w{1,10}$/.exec(clean)?.[0] ?? "";
  return clean.slice(0, maxNameLength - extension.length) + extension;
}

/**
 * Downloads the attachments of features to `folder/LAYER/FEATURE-ATTACHMENT-NAME`. A file that is there with the size of
 * the attachment is kept, so that an interrupted download continues.
 * @returns their number @throws output-failed and what the client throws
 */
export async function downloadAttachments(
  client: ServiceClient,
  layer: ServiceLayer,
  ids: Float64Array,
  folder: string,
): Promise<number> {
  const target = join(folder, safeName(layer.name));
  let count = 0;
  for await (const { feature, id, name, size } of listAttachments(client, layer, ids)) {
    // The numbers keep the name from being one of a device or of another attachment.
    const path = join(target, `${feature}-${id}-${safeName(name)}`);
    count++;
    const present = await stat(path).catch(() => null);
    if (present && size !== null && present.size === size) continue;
    if (present)
      throw failed(path, "a file of another size than the attachment is there; remove it, or name another folder");
    try {
      makeFolders(target);
    } catch (error) {
      throw failed(target, String(error));
    }
    const part = `${path}.${process.pid}.part`;
    try {
      const saved = await client.save(`/${layer.id}/${feature}/attachments/${id}`, part);
      if (size !== null && saved !== size)
        throw createError("feature-service-incomplete", {
          source: client.source,
          reason: `the attachment ${id} of the feature ${feature} has ${size} bytes, and ${saved} were sent`,
        });
      await rename(part, path).catch((error: unknown) => {
        throw failed(path, String(error));
      });
    } finally {
      await rm(part, { force: true });
    }
  }
  return count;
}

const failed = (output: string, reason: string) => createError("output-failed", { output, reason });
