package webtransport

import (
	"crypto/x509"
	"slices"
	"testing"
	"time"
)

// TestIdentityRenewsItself: over months, the certificate in use is always valid
// and its digest is one that was told four days before.
func TestIdentityRenewsItself(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	i, err := newIdentity([]string{"localhost"}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	get := i.TLS().GetCertificate
	told := i.Hashes()
	issued := map[Hash]bool{}
	for range 30 {
		now = now.Add(4 * 24 * time.Hour)
		c, err := get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(c.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		if now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
			t.Fatalf("at %v it is valid from %v to %v", now, leaf.NotBefore, leaf.NotAfter)
		}
		current := i.Hashes()[0]
		if !slices.Contains(told, current) {
			t.Fatalf("at %v the digest is one that nobody was told", now)
		}
		if err := verify(told, func() time.Time { return now })(c.Certificate, nil); err != nil {
			t.Fatal(err)
		}
		told = i.Hashes()
		issued[current] = true
	}
	if len(issued) < 10 {
		t.Errorf("%d certificates in 120 days", len(issued))
	}
	// Asleep for a year.
	now = now.Add(365 * 24 * time.Hour)
	c, err := get(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := verify(i.Hashes(), func() time.Time { return now })(c.Certificate, nil); err != nil {
		t.Error(err)
	}
	if err := verify(i.Hashes(),
		func() time.Time { return now.Add(validity + time.Minute) })(c.Certificate,
		nil); err == nil {
		t.Error("accepted after its end")
	}
	if err := verify(i.Hashes(), time.Now)(nil, nil); err == nil {
		t.Error("accepted nothing")
	}
}
