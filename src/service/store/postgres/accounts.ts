import type { Account, AccountStore, AuditEntry, Credential, Session as SignedIn } from "../contract.js";
import { normalizeEmail } from "../normalized-email.js";
import { clearFailedAttempts, recordFailedAttempt } from "./attempts.js";
import type { Database, QueryRunner } from "./database.js";
import { uuidParameter } from "./uuid-parameter.js";

const accountColumns = `id, email, name, password_hash AS "passwordHash", created`;
const credentialColumns = `id, account, name, client_id AS "clientId", created, last_used AS "lastUsed", revoked`;

/** PostgreSQL stores no text with U+0000 and rejects it in a query. */
const toSearchableText = (text: string): string | null => (text.includes("\0") ? null : text);

export function createAccountStore(db: Database): AccountStore {
  return {
    ...accountMethods(db),
    ...credentialMethods(db),
    ...tokenMethods(db),
    ...sessionMethods(db),
    countAttempt: (attempt) => recordFailedAttempt(db, attempt),
    forgetAttempts: (names) => clearFailedAttempts(db, names),
    audit: (entry) => addAuditEntry(db, entry),
    auditEntries: (query) => listAuditEntries(db, query),
  };
}

function accountMethods(
  db: Database,
): Pick<AccountStore, "addAccount" | "accountByEmail" | "accountById" | "accounts" | "setAccountName" | "setPassword"> {
  const one = async (where: string, value: string | null) =>
    (await db.rows<Account>(`SELECT ${accountColumns} FROM accounts WHERE ${where} = $1`, value))[0] ?? null;
  return {
    async addAccount({ id, email, name, passwordHash, created }) {
      const added = await db.run(
        `INSERT INTO accounts (id, email, email_key, name, password_hash, created) VALUES ($1, $2, $3, $4, $5, $6)
        ON CONFLICT (email_key) DO NOTHING`,
        id,
        email,
        normalizeEmail(email),
        name,
        passwordHash,
        created,
      );
      return added === 1;
    },
    accountByEmail: (email) => one("email_key", toSearchableText(normalizeEmail(email))),
    accountById: (id) => one("id", uuidParameter(id)),
    accounts: () => db.rows<Account>(`SELECT ${accountColumns} FROM accounts ORDER BY email_key`),
    async setAccountName({ account: of, name }) {
      await db.run("UPDATE accounts SET name = $2 WHERE id = $1", of, name);
    },
    async setPassword({ account: of, passwordHash }) {
      await db.run(
        `WITH changed AS (UPDATE accounts SET password_hash = $2 WHERE id = $1)
        DELETE FROM sessions WHERE account = $1`,
        of,
        passwordHash,
      );
    },
  };
}

function credentialMethods(
  db: Database,
): Pick<AccountStore, "addCredential" | "credentialByClientId" | "credentials" | "revokeCredential"> {
  return {
    async addCredential({ id, account: of, name, clientId, secretHash, created, lastUsed, revoked }) {
      await db.run(
        `INSERT INTO credentials (id, account, name, client_id, secret_hash, created, last_used, revoked)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        id,
        of,
        name,
        clientId,
        secretHash,
        created,
        lastUsed,
        revoked,
      );
    },
    async credentialByClientId(clientId) {
      const [found] = await db.rows<Credential & { secretHash: Uint8Array }>(
        `SELECT ${credentialColumns}, secret_hash AS "secretHash" FROM credentials WHERE client_id = $1`,
        toSearchableText(clientId),
      );
      return found ?? null;
    },
    credentials: (of) =>
      db.rows<Credential>(
        `SELECT ${credentialColumns} FROM credentials WHERE account = $1 ORDER BY created DESC, number DESC`,
        uuidParameter(of),
      ),
    async revokeCredential({ account: of, credential: id, now }) {
      const [found] = await db.rows<{ count: number }>(
        `WITH gone AS (
          UPDATE credentials SET revoked = $3 WHERE id = $1 AND account = $2 AND revoked IS NULL RETURNING number
        ), ended AS (DELETE FROM tokens USING gone WHERE tokens.credential = gone.number)
        SELECT count(*) FROM gone`,
        uuidParameter(id),
        uuidParameter(of),
        now,
      );
      return found!.count === 1;
    },
  };
}

/** Parameters: hash, now. */
const usableSetupToken = "setup_token WHERE hash = $1 AND expires > $2 AND NOT EXISTS (SELECT FROM accounts)";

function tokenMethods(
  db: Database,
): Pick<AccountStore, "addToken" | "revokeToken" | "setSetupToken" | "canUseSetupToken" | "useSetupToken"> {
  return {
    async addToken({ hash, credential: id, created, expires }) {
      await db.run(
        `WITH used AS (
          UPDATE credentials SET last_used = greatest(last_used, $3) WHERE id = $2 RETURNING number
        ) INSERT INTO tokens (hash, credential, expires) SELECT $1, number, $4 FROM used`,
        hash,
        id,
        created,
        expires,
      );
    },
    async revokeToken({ hash, clientId }) {
      await db.run(
        `DELETE FROM tokens WHERE hash = $1 AND credential = (SELECT number FROM credentials WHERE client_id = $2)`,
        hash,
        toSearchableText(clientId),
      );
    },
    async setSetupToken({ hash, expires }) {
      await db.run(
        `INSERT INTO setup_token (hash, expires) VALUES ($1, $2)
        ON CONFLICT (one) DO UPDATE SET hash = excluded.hash, expires = excluded.expires`,
        hash,
        expires,
      );
    },
    async canUseSetupToken({ hash, now }) {
      return (await db.rows(`SELECT 1 FROM ${usableSetupToken}`, hash, now)).length === 1;
    },
    async useSetupToken({ hash, now }) {
      return (await db.run(`DELETE FROM ${usableSetupToken}`, hash, now)) === 1;
    },
  };
}

function sessionMethods(db: Database): Pick<AccountStore, "addSession" | "session" | "extendSession" | "endSession"> {
  return {
    async addSession({ hash, account: of, created, expires }) {
      await db.run(
        "INSERT INTO sessions (hash, account, created, expires) VALUES ($1, $2, $3, $4)",
        hash,
        of,
        created,
        expires,
      );
    },
    async session({ hash, now }) {
      const [found] = await db.rows<SignedIn>(
        `SELECT s.account, a.email, s.created, s.expires FROM sessions s JOIN accounts a ON a.id = s.account
        WHERE s.hash = $1 AND s.expires > $2`,
        hash,
        now,
      );
      return found ?? null;
    },
    async extendSession({ hash, expires }) {
      await db.run("UPDATE sessions SET expires = $2 WHERE hash = $1", hash, expires);
    },
    async endSession(hash) {
      await db.run("DELETE FROM sessions WHERE hash = $1", hash);
    },
  };
}

async function listAuditEntries(
  db: Database,
  { map, account: of, limit }: Parameters<AccountStore["auditEntries"]>[0],
): Promise<AuditEntry[]> {
  const filters = Object.entries({ map, account: of }).filter(([, id]) => id !== undefined);
  const conditions = filters.map(([column], i) => `${column} = $${i + 2}`);
  const rows = await db.rows<Omit<AuditEntry, "detail"> & { detail: string }>(
    `SELECT at, account, map, action, detail, address FROM audit
    ${conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : ""} ORDER BY number DESC LIMIT $1`,
    limit,
    ...filters.map(([, id]) => uuidParameter(id!)),
  );
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) }));
}

export async function addAuditEntry(
  db: QueryRunner,
  { at, account: by, map, action, detail, address }: AuditEntry,
): Promise<void> {
  await db.run(
    "INSERT INTO audit (at, account, map, action, detail, address) VALUES ($1, $2, $3, $4, $5, $6)",
    at,
    by,
    map,
    action,
    JSON.stringify(detail),
    address,
  );
}
