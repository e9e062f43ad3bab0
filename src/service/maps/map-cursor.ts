/** Cursors of the list of maps: a position in the order of the list, which stays valid when the map is deleted. */
import { nilId } from "../../remote/wire.js";
import { isUuid } from "../identifiers/uuid.js";
import type { StoredMap } from "../store/contract.js";

type MapPosition = Pick<StoredMap, "name" | "id">;

export const encodeMapCursor = ({ name, id }: MapPosition): string => Buffer.from(`${id}${name}`).toString("base64url");

const uuidLength = nilId.length;

/** @returns null if the text is not a cursor */
export function decodeMapCursor(text: string): MapPosition | null {
  const position = Buffer.from(text, "base64url").toString();
  const [id, name] = [position.slice(0, uuidLength), position.slice(uuidLength)];
  return isUuid(id) && !name.includes("\0") ? { id, name } : null;
}
