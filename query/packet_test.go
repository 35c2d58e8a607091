package query

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func someInfo() Info {
	return Info{Mode: Mirror, Protocol: 1, Version: 2, Game: "pong", Level: "court", Name: "Friday",
		Region: "eu-north", Tags: []string{"beginners", "nordic"}, Players: 3, Capacity: 8,
		Open: true, HTTP: 4080, Secure: true, Places: 3, Answers: DefaultKinds,
		Own: []string{"score"}}
}

func someWho() Who {
	return Who{Total: 9, First: 1, Players: []Player{{Name: "ada", Ping: 31, Seconds: 600},
		{Name: "bob", Watches: true, Away: true}}}
}

// What is as large as it may be fits into an answer, and so into the longest query.
func TestLargest(t *testing.T) {
	long := strings.Repeat("ä", 200)
	i := Info{Game: long, Level: long, Name: long, Region: long}
	for range 20 {
		i.Tags, i.Own = append(i.Tags, long), append(i.Own, long)
	}
	body := i.AppendInfo(nil)
	if len(body) > MaxBody {
		t.Errorf("an Info of %d bytes does not fit into %d", len(body), MaxBody)
	}
	back, ok := ParseInfo(body)
	if !ok || len(back.Name) != MaxText || len(back.Tags) != MaxTags {
		t.Errorf("%v, %+v", ok, back)
	}
	w := Who{Total: 1000}
	for range 1000 {
		w.Players = append(w.Players, Player{Name: ""})
	}
	for most := range MaxBody + 100 {
		if n := len(w.AppendWho(nil, most)); n > most {
			t.Fatalf("a Who of %d bytes was to have %d", n, most)
		}
	}
	if got, ok := ParseWho(w.AppendWho(nil, MaxBody)); !ok || len(got.Players) != MaxPlayers {
		t.Errorf("%v, %d players", ok, len(got.Players))
	}
}

// Texts reach people's terminals: what is not text is replaced when it is written, and refused when
// it is read.
func TestTexts(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\x1b[2Jb": "a?[2Jb", "\xff": "?", "r\u202eabc": "r?abc", "é": "é",
		"two\nlines": "two?lines", "a b": "a b",
	} {
		if got := Clean(in, 100); got != want {
			t.Errorf("%q is cleaned to %q, want %q", in, got, want)
		}
		q := Query{Kind: Message, Text: []byte(in)}
		if sent := len(q.Append(nil, Least)) > 0; sent != (in == want) {
			t.Errorf("%q is sent: %v", in, sent)
		}
	}
	if got := Clean("ää", 3); got != "ä" {
		t.Errorf("a text that is cut is %q", got)
	}
	body := (&Info{Game: "xyz"}).AppendInfo(nil)
	if _, ok := ParseInfo(bytes.Replace(body, []byte("xyz"), []byte("x\x1bz"), 1)); ok {
		t.Error("an escape is let through")
	}
	for _, text := range []string{"", strings.Repeat("x", MaxMessage+1)} {
		if (Query{Kind: Message, Text: []byte(text)}).Append(nil, Most) != nil {
			t.Errorf("a message of %d bytes is written", len(text))
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]Kinds{
		"none": 0, "all": AllKinds, "ping, info,who,own": DefaultKinds, "message": 1 << 3} {
		k, err := ParseKinds(text)
		if err != nil || k != want {
			t.Errorf("%q is %v, %v", text, k, err)
		}
		if again, err := ParseKinds(k.String()); err != nil || again != k {
			t.Errorf("%v is read again as %v, %v", k, again, err)
		}
	}
	for _, text := range []string{"", "pong", "who;info"} {
		if _, err := ParseKinds(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// FuzzQuery: what parses is written again to the same bytes, no answer to it is longer, and nothing
// is allocated.
func FuzzQuery(f *testing.F) {
	f.Add(Query{Kind: Ping, Nonce: 7}.Append(nil, Least))
	f.Add(Query{Kind: AskInfo, Cookie: Cookie{1, 2}}.Append(nil, 300))
	f.Add(Query{Kind: AskWho, First: 258}.Append(nil, Most))
	f.Add(Query{Kind: Message, Text: []byte("hello")}.Append(nil, 40))
	f.Add(Query{Kind: Own, Text: []byte("score")}.Append(nil, 40))
	body := make([]byte, MaxBody)
	f.Fuzz(func(t *testing.T, data []byte) {
		q, ok := ParseQuery(data)
		if !ok {
			return
		}
		if again := q.Append(nil, len(data)); !bytes.Equal(again, data) {
			t.Fatalf("%x is written again as %x", data, again)
		}
		for _, n := range []int{0, len(data) - answerHead, len(data), MaxBody} {
			a := Answer{Kind: q.Kind, Nonce: q.Nonce, Body: body[:min(max(n, 0), MaxBody)]}
			if out := a.Append(nil, len(data)); len(out) > len(data) || len(out) < answerHead {
				t.Fatalf("an answer to %d bytes has %d", len(data), len(out))
			}
		}
	})
}

// FuzzAnswer: an answer and what it holds are read, written again and read the same.
func FuzzAnswer(f *testing.F) {
	i, w := someInfo(), someWho()
	f.Add(Answer{Kind: Ping, Held: maxHeld}.Append(nil, Least))
	f.Add(Answer{Kind: AskInfo, Body: i.AppendInfo(nil)}.Append(nil, Most))
	f.Add(Answer{Kind: AskWho, Body: w.AppendWho(nil, MaxBody)}.Append(nil, Most))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, ok := ParseAnswer(data)
		if !ok {
			return
		}
		if again := a.Append(nil, Most); !bytes.Equal(again, data) {
			t.Fatalf("%x is written again as %x", data, again)
		}
		if i, ok := ParseInfo(a.Body); ok && !bytes.Equal(i.AppendInfo(nil), a.Body) {
			t.Fatalf("%+v is not %x", i, a.Body)
		}
		if w, ok := ParseWho(a.Body); ok && !bytes.Equal(w.AppendWho(nil, MaxBody), a.Body) {
			t.Fatalf("%+v is not %x", w, a.Body)
		}
	})
}

func TestRoundTrips(t *testing.T) {
	i, w := someInfo(), someWho()
	if got, ok := ParseInfo(i.AppendInfo(nil)); !ok || !reflect.DeepEqual(got, i) {
		t.Errorf("%+v is read as %+v", i, got)
	}
	if got, ok := ParseWho(w.AppendWho(nil, MaxBody)); !ok || !reflect.DeepEqual(got, w) {
		t.Errorf("%+v is read as %+v", w, got)
	}
}

func BenchmarkParse(b *testing.B) {
	q := Query{Kind: Own, Text: []byte("score")}.Append(nil, 400)
	a := Answer{Kind: Own, Body: make([]byte, 300)}
	buf := make([]byte, 0, Most)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := ParseQuery(q); !ok {
			b.Fatal("not read")
		}
		if buf = a.Append(buf[:0], len(q)); len(buf) == 0 {
			b.Fatal("not written")
		}
		if _, ok := ParseAnswer(buf); !ok {
			b.Fatal("not read")
		}
	}
}
