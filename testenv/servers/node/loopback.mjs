// Preloaded with node --import: makes a server that wants a fixed port on every address listen on a free port of the
// loopback interface instead, or on the one that MCPOTEL_PORT names, and says on standard error which one that is.
import { Server } from 'node:net';

const listen = Server.prototype.listen;

Server.prototype.listen = function (...args) {
  const callback = args.find((arg) => typeof arg === 'function');
  this.once('listening', () => {
    const address = this.address(); // null if it only wanted to know whether the port is free
    if (address) console.error(`listening on http://127.0.0.1:${address.port}`);
  });
  return listen.call(this, { port: Number(process.env.MCPOTEL_PORT ?? 0), host: '127.0.0.1' }, callback);
};
