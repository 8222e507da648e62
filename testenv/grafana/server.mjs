// Serves the built page, the dashboards, and a proxy to Prometheus under /prometheus. With a single origin, the page
// needs no CORS.
//
//   PROMETHEUS_URL=http://127.0.0.1:9090 node server.mjs DASHBOARDS
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (directory) => fileURLToPath(new URL(directory, import.meta.url));
const built = here('dist/');
// The paths at which Grafana's components request icons and the font.
const assets = {
  '/public/build/img/icons/': here('node_modules/@grafana/ui/dist/public/img/icons/'),
  '/public/fonts/inter/': here('node_modules/inter-ui/web/'),
};
const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.svg': 'image/svg+xml', '.ttf': 'font/ttf', '.woff2': 'font/woff2',
};

async function file(directory, name, response) {
  const found = path.join(directory, path.normalize('/' + name));
  response.setHeader('Content-Type', types[path.extname(found)] ?? 'application/octet-stream');
  response.end(await readFile(found));
}

function pass(request, response, to) {
  const { 'content-type': type = '', 'content-length': length } = request.headers;
  const asked = http.request(to, { method: request.method, headers: { 'content-type': type, ...(length && { 'content-length': length }) } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  asked.on('error', (error) => response.writeHead(502).end(JSON.stringify({ error: `${to.origin}: ${error.message}` })));
  request.pipe(asked);
}

/** serve listens on loopback. It returns the URL and a function that stops the server. */
export async function serve({ dashboards, prometheus, port = 0 }) {
  const api = prometheus.replace(/\/$/, '');
  const server = http.createServer((request, response) => {
    const { pathname, search } = new URL(request.url, 'http://localhost');
    if (pathname.startsWith('/prometheus/')) return pass(request, response, new URL(api + pathname.slice('/prometheus'.length) + search));
    const served = { ...assets, '/dashboards/': dashboards, '/': built };
    const at = Object.keys(served).find((prefix) => pathname.startsWith(prefix));
    file(served[at], pathname === '/' ? 'index.html' : pathname.slice(at.length), response).catch((error) =>
      response.writeHead(404).end(error.message)
    );
  });
  await new Promise((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dashboards] = process.argv.slice(2);
  const { url } = await serve({ dashboards: path.resolve(dashboards), prometheus: process.env.PROMETHEUS_URL, port: Number(process.env.PORT ?? 0) });
  console.log(`${url}/?dashboard=NAME`);
}
