// Preloaded with node --import. A server that would listen on a fixed port of every address listens instead on a free
// port of the loopback interface, or on the port in MCPOTEL_PORT. This module prints the address on standard error.
import { Server } from 'node:net';

const listen = Server.prototype.listen;

Server.prototype.listen = function (...args) {
  const callback = args.find((arg) => typeof arg === 'function');
  this.once('listening', () => {
    const address = this.address(); // null if the server has only tested whether the port is free
    if (address) console.error(`listening on http://127.0.0.1:${address.port}`);
  });
  return listen.call(this, { port: Number(process.env.MCPOTEL_PORT ?? 0), host: '127.0.0.1' }, callback);
};
