import type { Database, SqlValue } from "../../../src/sqlite/index.js";

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

  constructor(private readonly database: Database) {}

  /** Call after each layer. */
  countLayer(): void {
    this.layers++;
    if (this.layers % interval === 0) this.setAside();
  }

  private setAside(): void {
    const { database } = this;
    const rows = database.prepare<[], SchemaRow>(
      `SELECT type, name, tbl_name, rootpage, sql ${rowsOfLayers} ORDER BY rowid`,
    );
    for (const row of rows.all()) this.rows.push(row);
    this.change(() => database.exec(`DELETE ${rowsOfLayers}`));
  }

  /** Puts the rows back, tables before their triggers. Call before the end of the transaction. */
  restore(): void {
    if (this.rows.length === 0) return;
    // What was created last comes last.
    this.setAside();
    this.change(() => {
      const insert = this.database.prepare<SqlValue[]>("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)");
      for (const row of this.rows) insert.run(row.type, row.name, row.tbl_name, row.rootpage, row.sql);
    });
    this.rows.length = 0;
  }

  private change(work: () => void): void {
    const { database } = this;
    database.unsafeMode(true);
    database.pragma("writable_schema = ON");
    work();
    database.pragma("writable_schema = OFF");
    database.unsafeMode(false);
  }
}
