// Package page is what a program needs to let people play a title in their browsers, whatever
// server is behind it: the client, compiled for the browser or built before; the hosts by which the
// page is asked for; and the link that is handed on, with a code for phones.
//
//	serve ──┐                 ┌── page/qr   a link as a picture
//	        ├── page ─────────┤
//	demo ───┘                 └── web       the page itself
//
// A demo shows its panel beside the game and changes the network; a server shows the game alone.
package page
