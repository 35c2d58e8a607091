// A simulator made with the package open-dis: it prints what it understands of each PDU that comes,
// and answers each Entity State with one of its own, 5 m to the side.
//
//	node opendis.js VERSION ADDRESS-OF-THE-OTHER
'use strict';
const udp = require('dgram').createSocket('udp4');
const version = process.argv[2];
const dis = require(`open-dis/dist/dis${version}.min.js`);
const [host, port] = process.argv[3].split(':');

udp.on('message', (data) => {
  const bytes = new Uint8Array(data); // a buffer of its own
  const pdu = new dis.PduFactory().createPdu(bytes.buffer);
  const told = {type: pdu.pduType};
  if (pdu.pduType === 1) {
    told.location = {...pdu.entityLocation};
    told.marking = String.fromCharCode(...pdu.marking.characters).replace(/\0+$/, '');
    if (version === '6') {
      pdu.entityID.site = 77;
    } else {
      pdu.entityID.siteID = 77;
    }
    pdu.entityLocation.y += 5;
    const buffer = new ArrayBuffer(1000);
    const out = new dis.OutputStream(buffer);
    pdu.encodeToBinary(out);
    const answer = Buffer.from(buffer, 0, out.currentPosition);
    answer.writeUInt16BE(answer.length, 8); // open-dis leaves the length to us
    udp.send(answer, Number(port), host);
  }
  console.log(JSON.stringify(told));
});
udp.bind(0, '127.0.0.1', () => console.log(JSON.stringify({port: udp.address().port})));
