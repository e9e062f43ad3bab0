/**
 * Entities of XML 1.0, section 4. The five that XML predefines and references to characters are always there. Of those
 * that a document declares, only short texts without tags and references to other declared ones are taken; nothing outside the file is ever
 * asked for, and what a document refers to may not grow it by more than a little (section 4.4; CWE-776, CWE-611).
 */

const predefinedEntities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A declared text is at most so long, in UTF-16 units; longer ones count as not declared. */
const maxEntityLength = 256;
/** All texts put in for references together are at most so long, in UTF-16 units. */
const maxExpandedLength = 1 << 20;

/** Why a reference cannot be followed. */
export class EntityError extends Error {}

export class XmlEntities {
  private readonly declared = new Map<string, string>();
  /** Declared names that are not followed, and why. */
  private readonly refused = new Map<string, string>();
  private expanded = 0;

  /** The text that `&name;` stands for, null where nothing tells. @throws EntityError */
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

  /** Takes the declarations of a document type's internal subset (`<!DOCTYPE gpx [ … ]>`). */
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
 * What an entity's literal stands for as character data. References to characters are replaced as it is declared, and
 * what comes of that is read again where the entity is referred to: `&amp;` in it is an ampersand, and so is
 * `&#38;amp;`, as `&#38;` alone is none (XML 1.0, sections 4.4.2, 4.4.5 and 4.5, appendix D). Null where that gives
 * tags, other declared entities or nothing well-formed.
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

/** What a reference stands for that needs no declaration. */
function resolvePredefined(name: string): string | null {
  if (name.startsWith("#")) return resolveCharacterReference(name);
  return Object.hasOwn(predefinedEntities, name) ? predefinedEntities[name]! : null;
}

/** The character of a reference without its `&` and `;`: `#233`, `#xE9`. Null where XML has no such character. */
function resolveCharacterReference(reference: string): string | null {
  const digits = /^#(?:x([0-9a-f]{1,7})|([0-9]{1,8}))$/i.exec(reference);
  if (!digits) return null;
  const code = digits[1] === undefined ? Number(digits[2]) : Number.parseInt(digits[1], 16);
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
  const isControl = code < 32 && code !== 9 && code !== 10 && code !== 13;
  return isCharacter && !isControl ? String.fromCodePoint(code) : null;
}
