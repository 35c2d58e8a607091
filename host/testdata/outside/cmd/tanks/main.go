package main

import (
	"example.com/tanks"
	"github.com/coeval-dev/coeval/host"
)

func main() { host.Main(tanks.Title) }
