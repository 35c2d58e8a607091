package websocket

import "github.com/coder/websocket"

type trusted struct{}

func dialOptions(*Options) *websocket.DialOptions { return &websocket.DialOptions{} }
