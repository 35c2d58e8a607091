// Package learned keeps the tables that servers have learned for the codec: in a folder, for the
// next start of a server and the next visit of a player, or in what a browser keeps for a page.
//
//	server.Learning.Keep  ->  Folder  ->  server.Learning.Known
//	client.Options.Tables <-> Folder or Browser
//
// Both are bounded, and whatever they give is checked by its hash by whoever asked.
package learned
