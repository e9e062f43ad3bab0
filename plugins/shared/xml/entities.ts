/**
 * Entities of XML 1.0, section 4. The five predefined entities and character references are always available. Of the
 * declared entities, only short texts without tags and without references to other declared entities are used. Nothing
 * outside the file is read, and the expansion of a document is limited (section 4.4; CWE-776, CWE-611).
 */

const predefinedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The maximum length of an entity's text, in UTF-16 units; longer entities are refused. */
const maxEntityLength = 256;
/** The maximum length of all expanded references together, in UTF-16 units. */
const maxExpandedLength = 1 << 20;

/** A reference that cannot be resolved. */
export class EntityError extends Error {}

export class XmlEntities {
  private readonly declared = new Map<string, string>();
  /** Declared names that are not resolved, with the reasons. */
  private readonly refused = new Map<string, string>();
  private expanded = 0;

  /** Returns the text of `&name;`, or null where it is not declared. @throws EntityError */
  text(name: string): string | null {
    const known = resolvePredefined(name);
    if (known !== null || name.startsWith("#")) return known;
    const reason = this.refused.get(name);
    if (reason !== undefined) throw new EntityError(`the entity &${name}; ${reason}`);
    const text = this.declared.get(name);
    if (text === undefined) return null;
    this.expanded += text.length;
    if (this.expanded > maxExpandedLength) {
      throw new EntityError(`references to &${name}; and others make the document too large`);
    }
    return text;
  }

  /** Reads the declarations in the internal subset of a document type (`<!DOCTYPE gpx [ … ]>`). */
  declare(doctype: string): void {
    const declaration = /<!ENTITY\s+(%\s+)?([^\s"'<>&;%]+)\s+(?:(SYSTEM|PUBLIC)\b|"([^"]*)"|'([^']*)')/g;
    for (const [, parameter, name, external, quoted, single] of doctype.matchAll(declaration)) {
      // The first declaration counts (XML 1.0, section 4.2).
      if (parameter || this.declared.has(name!) || this.refused.has(name!)) continue;
      if (external) this.refused.set(name!, "is declared outside of the file, and nothing is fetched for it");
      else this.declareText(name!, quoted ?? single ?? "");
    }
  }

  private declareText(name: string, literal: string): void {
    if (literal.length > maxEntityLength) {
      this.refused.set(name, `stands for more than ${maxEntityLength} characters`);
      return;
    }
    const text = resolveEntityLiteral(literal);
    if (text === null) this.refused.set(name, "stands for tags or other entities");
    else this.declared.set(name, text);
  }
}

/**
 * Returns the character data that an entity's literal expands to. Character references are replaced in the declaration,
 * and the result is parsed again where the entity is referenced: `&amp;` in it is an ampersand, and so is `&#38;amp;`,
 * while `&#38;` alone is not (XML 1.0, sections 4.4.2, 4.4.5 and 4.5, appendix D). Null where the result has tags or
 * references to other declared entities, or is not well-formed.
 */
function resolveEntityLiteral(literal: string): string | null {
  const replacement = literal.replace(
    /&(#[^;]*);/g,
    (written, name: string) => resolveCharacterReference(name) ?? written,
  );
  if (/[<%]/.test(replacement)) return null;
  let isPlain = true;
  const text = replacement.replace(/&(?:([^;&]*);)?/g, (_, name: string | undefined) => {
    const character = name === undefined ? null : resolvePredefined(name);
    if (character === null) isPlain = false;
    return character ?? "";
  });
  return isPlain ? text : null;
}

/** Returns the text of a reference that needs no declaration. */
function resolvePredefined(name: string): string | null {
  if (name.startsWith("#")) return resolveCharacterReference(name);
  return Object.hasOwn(predefinedEntities, name) ? predefinedEntities[name]! : null;
}

/** Returns the character of a reference without its `&` and `;`: `#233`, `#xE9`. Null where XML does not allow it. */
function resolveCharacterReference(reference: string): string | null {
  const digits = /^#(?:x([0-9a-f]{1,7})|([0-9]{1,8}))$/i.exec(reference);
  if (!digits) return null;
  const code = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
  const isControl = code < 32 && code !== 9 && code !== 10 && code !== 13;
  return isCharacter && !isControl ? String.fromCodePoint(code) : null;
}
