package cluster

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// plain are the bytes that stand for themselves in a subject.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

const maxKey = 200 // bytes of a key or of a zone's name

// token makes one token of a subject from a key: any bytes, as =XX where they are not plain.
func token(key string) (string, error) {
	if key == "" || len(key) > maxKey {
		return "", fmt.Errorf("cluster: a key has 1 to %d bytes, not %d", maxKey, len(key))
	}
	if strings.Trim(key, plain) == "" {
		return key, nil
	}
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String(), nil
}

// untoken gives the key of a token. Only what token makes is one.
func untoken(t string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '=' {
			b.WriteByte(t[i])
			continue
		}
		if i+2 >= len(t) {
			return "", false
		}
		c, err := strconv.ParseUint(t[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	again, err := token(b.String())
	return b.String(), err == nil && again == t
}

// keyOf gives the key at the end of a subject that begins with a prefix.
func keyOf(subject, prefix string) (string, bool) {
	t, ok := strings.CutPrefix(subject, prefix)
	if !ok {
		return "", false
	}
	return untoken(t)
}

// A stream is one of NATS. Its subjects hold the cluster's identity: whoever still knows another
// cluster of the name writes to subjects that nobody listens to.
type stream struct {
	name   string
	prefix string // of its subjects
}

func streamOf(cluster, id, what string) stream {
	return stream{
		name:   "coeval_" + cluster + "_" + what,
		prefix: "coeval." + cluster + "." + id + "." + what + ".",
	}
}

// keys is how the subjects of all keys begin.
func (s *stream) keys() string { return s.prefix + "k." }

// barrier is the subject of messages that mean nothing but that all before them are applied. No key
// has it.
func (s *stream) barrier() string { return s.keys() + "=" }

// subject is that of a key.
func (s *stream) subject(key string) (string, error) {
	t, err := token(key)
	return s.keys() + t, err
}

// place says which of n streams has the journal of a zone. It must never change.
func place(zone string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(zone)) // it does not fail
	return int(h.Sum32() % uint32(n))
}
