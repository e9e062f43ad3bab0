import type { Database, SqlValue } from "../../../src/sqlite/index.js";

/** Calls `work`, which may write to `sqlite_master`. What it adds is known after the file is opened again. */
export function changeSchema(database: Database, work: () => void): void {
  database.unsafeMode(true);
  database.pragma("writable_schema = ON");
  work();
  database.pragma("writable_schema = OFF");
  database.unsafeMode(false);
}

type SchemaRow = Record<"type" | "name" | "tbl_name" | "rootpage" | "sql", SqlValue>;

/** Rows of the metadata tables, which are created when needed, stay. */
const rowsOfLayers =
  "FROM sqlite_master WHERE tbl_name NOT LIKE 'gpkg!_%' ESCAPE '!' AND tbl_name NOT LIKE 'sqlite!_%' ESCAPE '!'";

/** The number of layers after which their rows of the schema are set aside. */
const interval = 64;

/**
 * Keeps `sqlite_master` short while many layers are created. SQLite reads all of it after each CREATE, so the time would
 * grow with the square of the number of layers. It does not read it otherwise: in the transaction, the layers whose rows
 * are set aside stay known. For a transaction on a file that is discarded after an error.
 */
export class SetAsideSchema {
  private readonly rows: SchemaRow[] = [];
  private layers = 0;

  /** @param database may be another connection later, if nothing is asked about earlier layers */
  constructor(public database: Database) {}

  /** Call after each layer. @returns whether the layers were set aside */
  countLayer(): boolean {
    this.layers++;
    if (this.layers % interval !== 0) return false;
    this.setAside();
    return true;
  }

  private setAside(): void {
    const { database } = this;
    const rows = database.prepare<[], SchemaRow>(
      `SELECT type, name, tbl_name, rootpage, sql ${rowsOfLayers} ORDER BY rowid`,
    );
    for (const row of rows.all()) this.rows.push(row);
    changeSchema(database, () => database.exec(`DELETE ${rowsOfLayers}`));
  }

  /** Puts the rows back, tables before their triggers. Call before the end of the transaction. */
  restore(): void {
    const { database } = this;
    if (this.rows.length === 0) return;
    // What was created last comes last.
    this.setAside();
    changeSchema(database, () => {
      const insert = database.prepare<SqlValue[]>("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)");
      for (const row of this.rows) insert.run(row.type, row.name, row.tbl_name, row.rootpage, row.sql);
    });
    this.rows.length = 0;
  }
}
