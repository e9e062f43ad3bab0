/** The bare loop of the service's bench: reads 500 rows from the one in the path on, and writes them to the socket. */
import http from "node:http";
import Database from "better-sqlite3";
import pg from "pg";

const location = process.argv[2];
const statement = (first) => `SELECT id, geometry, properties FROM bare WHERE seq >= ${first} ORDER BY seq LIMIT 500`;

function reader() {
  if (location.startsWith("postgres")) {
    const pool = new pg.Pool({ connectionString: location, max: 4 });
    return async (first) => (await pool.query({ name: "page", text: statement("$1"), values: [first] })).rows;
  }
  const select = new Database(location, { readonly: true }).prepare(statement("?"));
  return async (first) => select.all(first);
}
const rows = reader();

const server = http.createServer(async (request, response) => {
  const features = (await rows(Number(request.url.slice(1)))).map(
    ({ id, geometry, properties }) =>
      `{"type":"Feature","id":"${id}","geometry":${geometry},"properties":${properties}}`,
  );
  response.end(`{"type":"FeatureCollection","features":[${features.join(",")}]}`);
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`);
});
