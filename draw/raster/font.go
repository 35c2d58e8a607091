package raster

import (
	"math"
	"strings"
	"sync"
)

// The font is one of strokes of a round pen. A letter is paths through points of a grid: the
// baseline is at 0, small letters are 4 high and capitals 6, a letter goes down to -2, and the pen
// is 1 wide.
//
// In the drawings below a point is two characters, its x and its y: a digit as it is, A to F for a
// half more than 0 to 5, and a or b for -1 or -2. A corner with ~ behind it is round. Points up to
// a space are one path; z closes it.
const (
	xHeight   = 4.0
	capHeight = 6.0
	descent   = -2.0
	ascent    = 8.0   // of accents
	unit      = 0.103 // of a text's size
)

// A symbol is a character as strokes.
type symbol struct {
	width   float64
	strokes [][4]float64
}

// letters are the drawings, each behind its character and its width.
const letters = `
! 0 06 02,00 00
" 2 06 04,26 24
# 4 10 16,30 36,02 42,04 44
$ 4 45 46~06~03~43~40~00~01,27 2a
% 4 00 46,05~06~16~15~z,30~31~41~40~z
& 4 40 05 06~26~25 01 00~30~42
' 0 06 04
( 1 17 06~00~1a
) 1 07 16~10~0a
* 4 21 25,02 44,04 42
+ 4 03 43,21 25
, 1 11 10 0a
- 2 03 23
. 0 00 00
/ 3 0a 37
0 3 06~36~30~00~z
1 3 05 26 20
2 3 05 06~36~34~00 30
3 3 05 06~36~33~13,23 33~30~00~01
4 3 20 26 02 32
5 3 36 06 03 33~30~00
6 3 36 06~00~30~33~03
7 3 06 36 10
8 3 06~36~33~03~z,03~33~30~00~z
9 3 00 30~36~06~03~33
: 0 00 00,04 04
; 1 11 10 0a,14 14
< 3 35 03 31
= 3 02 32,04 34
> 3 05 33 01
? 3 05 06~36~33~B3~B2,B0 B0
@ 6 42~44~24~22~z,44 42~62~66~06~00~50
A 4 00 26 40,A2 D2
B 4 00 06 36~33~03,23 43~40~00
C 4 45 46~06~00~40~41
D 4 00 06 46~40~z
E 3 36 06 00 30,03 23
F 3 36 06 00,03 23
G 4 45 46~06~00~40~43 23
H 4 00 06,40 46,03 43
I 0 00 06
J 3 36 30~00~01
K 4 00 06,46 03 40
L 3 06 00 30
M 4 00 06 23 46 40
N 4 00 06 40 46
O 4 06~46~40~00~z
P 4 00 06 46~43~03
Q 4 06~46~40~00~z,21 4a
R 4 00 06 46~43~03,23 40
S 4 45 46~06~03~43~40~00~01
T 4 06 46,26 20
U 4 06 00~40~46
V 4 06 20 46
W 6 06 B0 35 E0 66
X 4 00 46,06 40
Y 4 06 23 46,23 20
Z 4 06 46 00 40
[ 1 17 07 0a 1a
\ 3 07 3a
] 1 07 17 1a 0a
^ 4 04 26 44
_ 4 0a 4a
` + "`" + ` 1 06 15
a 3 04 34~30,32 02~00~30
b 3 06 00 30~34~04
c 3 34 04~00~30
d 3 36 30 00~04~34
e 3 02 32 34~04~00~30
f 2 26 16~10,04 24
g 3 34 04~00~30,34 3b~0b
h 3 06 00,04 34~30
i 0 00 04,06 06
j 1 14 1b~0b,16 16
k 3 06 00,34 02 30
l 1 06 00~10
m 4 00 04 24~20,24 44~40
n 3 00 04 34~30
o 3 04~34~30~00~z
p 3 0b 04 34~30~00
q 3 3b 34 04~00~30
r 2 00 04 24
s 3 34 04~02~32~30~00
t 2 16 10~20,04 24
u 3 04 00~30,34 30
v 3 04 B0 34
w 4 04 10 23 30 44
x 3 00 34,04 30
y 3 04 00~30,34 3b~0b
z 3 04 34 00 30
{ 2 27 17~13~03,03 13~1a~2a
| 0 07 0b
} 2 07 17~13~23,23 13~1a~0a
~ 4 03 14~32~43
¡ 0 04 04,02 0b
¢ 3 34 04~00~30,B6 Ba
£ 4 45 46~16~10,00 40,03 33
¤ 4 12~14~34~32~z,01 12,41 32,05 14,45 34
¥ 4 06 23 46,23 20,03 43,01 41
¦ 0 07 04,02 0b
§ 3 36 06~04~34~32~02,34 32,04 02,32~3a~0a
¨ 2 06 06,26 26
© 6 06~66~60~00~z,44 24~22~42
ª 2 06 26~23,25 05~03~23
« 4 24 02 20,44 22 40
¬ 3 04 34 32
® 6 06~66~60~00~z,22 24 44~43~23,33 42
¯ 3 07 37
° 2 04~06~26~24~z
± 4 04 44,22 26,00 40
² 2 07 27~26~04 24
³ 2 07 27~26 16,26~24~04
´ 1 05 16
µ 3 04 0b,00 30,34 30
¶ 4 26 2a,46 4a,46 06~03~23
· 0 03 03
¸ 1 00 1a 0b
¹ 1 06 17 14
º 2 04~06~26~24~z
» 4 04 22 00,24 42 20
¼ 6 05 16 13,00 56,53 41 61,50 53
½ 6 05 16 13,00 56,43 63~62 40 60
¾ 6 06 26~25 15,25~23~03,00 56,53 41 61,50 53
¿ 3 31 30~00~03~B3~B4,B6 B6
× 3 01 34,04 31
÷ 4 03 43,25 25,21 21
Æ 6 00 36 66,36 30 60,33 53,12 32
Ð 4 00 06 46~40~z,03 23
Ø 4 06~46~40~00~z,0a 47
Þ 4 00 06,05 45~41~01
ß 3 0a 06~26~24~14 34~30~20
æ 5 04 24 20,22 02~00~20,22 52 54~24,20 50
ð 3 04~34~30~00~z,34 06,05 27
ø 3 04~34~30~00~z,0a 35
þ 3 06 0b,04 34~30~00
ı 0 00 04
– 3 03 33
— 6 03 63
− 4 03 43
‘ 0 06 04
’ 0 06 04
“ 2 06 04,26 24
” 2 06 04,26 24
… 4 00 00,20 20,40 40
• 2 A3 B3,12 14,13 13,A2 B4,A4 B2
€ 4 45 46~16~10~40~41,04 34,02 32
← 4 03 43,25 03 21
→ 4 03 43,25 43 21
↑ 4 20 26,04 26 44
↓ 4 20 26,02 20 42
`

// accented are letters with something above or below.
const accented = "ÀAg ÁAa ÂAc ÃAt ÄAd ÅAr ÇC, ÈEg ÉEa ÊEc ËEd ÌIg ÍIa ÎIc ÏId ÑNt ÒOg ÓOa " +
	"ÔOc ÕOt ÖOd ÙUg ÚUa ÛUc ÜUd ÝYa àag áaa âac ãat äad åar çc, èeg éea êec ëed ìıg íıa " +
	"îıc ïıd ñnt òog óoa ôoc õot öod ùug úua ûuc üud ýya ÿyd"

var (
	inked   sync.Once
	latin   [256]*symbol
	other   map[rune]*symbol
	unknown *symbol
)

// symbolOf is how a character is drawn.
func symbolOf(r rune) *symbol {
	inked.Do(ink)
	s := other[r]
	if r >= 0 && int(r) < len(latin) {
		s = latin[r]
	}
	if s == nil {
		return unknown
	}
	return s
}

// ink makes the font.
func ink() {
	other = map[rune]*symbol{}
	unknown = drawn(4, "06 46 40 00z")
	set := func(r rune, s *symbol) {
		if int(r) < len(latin) {
			latin[r] = s
		} else {
			other[r] = s
		}
	}
	for line := range strings.Lines(strings.Trim(letters, "\n")) {
		r := []rune(strings.TrimSuffix(line, "\n"))
		set(r[0], drawn(float64(r[2]-'0'), string(r[4:])))
	}
	blank := &symbol{width: 1}
	set(' ', blank)
	set('\u00a0', blank)
	set('\u00ad', latin['-'])
	for word := range strings.FieldsSeq(accented) {
		r := []rune(word)
		base := other['ı']
		if r[1] != 'ı' {
			base = latin[r[1]]
		}
		high := capHeight
		if r[1] >= 'a' {
			high = xHeight
		}
		s := *base
		middle := s.width / 2
		s.strokes = append([][4]float64(nil), base.strokes...)
		for _, m := range marks[r[2]] {
			s.strokes = append(s.strokes, [4]float64{
				middle + m[0], high + m[1], middle + m[2], high + m[3]})
		}
		if r[2] == ',' {
			s.strokes = append(s.strokes, [4]float64{middle, 0, middle + 0.5, -1},
				[4]float64{middle + 0.5, -1, middle - 0.5, -2})
		}
		set(r[0], &s)
	}
}

// marks are what stands above letters.
var marks = map[rune][][4]float64{
	'g': {{-0.5, 2, 0.5, 1.2}},
	'a': {{-0.5, 1.2, 0.5, 2}},
	'c': {{-1, 1.2, 0, 2}, {0, 2, 1, 1.2}},
	't': {{-1, 1.3, -0.4, 1.9}, {-0.4, 1.9, 0.4, 1.3}, {0.4, 1.3, 1, 1.9}},
	'd': {{-1, 1.7, -1, 1.7}, {1, 1.7, 1, 1.7}},
	'r': {{-0.6, 1.6, 0, 2.2}, {0, 2.2, 0.6, 1.6}, {0.6, 1.6, 0, 1}, {0, 1, -0.6, 1.6}},
}

// drawn makes strokes of a drawing.
func drawn(width float64, text string) *symbol {
	s := &symbol{width: width}
	for path := range strings.SplitSeq(text, ",") {
		s.path(path)
	}
	return s
}

// A joint is a point of a path.
type joint struct {
	x, y  float64
	round bool
}

// path adds the strokes of one path.
func (s *symbol) path(text string) {
	var joints []joint
	closed := strings.HasSuffix(text, "z")
	text = strings.TrimSuffix(text, "z")
	for i := 0; i+1 < len(text); {
		if text[i] == ' ' {
			i++
			continue
		}
		j := joint{x: coordinate(text[i]), y: coordinate(text[i+1])}
		if i += 2; i < len(text) && text[i] == '~' {
			j.round = true
			i++
		}
		joints = append(joints, j)
	}
	n := len(joints)
	var points [][2]float64
	for i, j := range joints {
		if !j.round || !closed && (i == 0 || i == n-1) {
			points = append(points, [2]float64{j.x, j.y})
			continue
		}
		points = bend(points, joints[(i+n-1)%n], j, joints[(i+1)%n])
	}
	if closed {
		points = append(points, points[0])
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		s.strokes = append(s.strokes, [4]float64{a[0], a[1], b[0], b[1]})
	}
}

func coordinate(c byte) float64 {
	switch {
	case c >= 'A' && c <= 'F':
		return float64(c-'A') + 0.5
	case c == 'a' || c == 'b':
		return -1 - float64(c-'a')
	}
	return float64(c - '0')
}

// bend goes around a corner in short pieces.
func bend(points [][2]float64, before, at, after joint) [][2]float64 {
	toward := func(o joint) (x, y float64) {
		dx, dy := o.x-at.x, o.y-at.y
		length := math.Hypot(dx, dy)
		r := 2.0
		if reach := length; o.round {
			r = min(r, reach/2)
		} else {
			r = min(r, reach)
		}
		return at.x + dx/length*r, at.y + dy/length*r
	}
	ax, ay := toward(before)
	bx, by := toward(after)
	const pieces = 6
	// A curve of the third degree that is a quarter of a circle where the corner is square.
	const k = 0.5523
	cx, cy := ax+(at.x-ax)*k, ay+(at.y-ay)*k
	dx, dy := bx+(at.x-bx)*k, by+(at.y-by)*k
	for i := range pieces + 1 {
		t := float64(i) / pieces
		u := 1 - t
		a, b, c, d := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		points = append(points, [2]float64{a*ax + b*cx + c*dx + d*bx, a*ay + b*cy + c*dy + d*by})
	}
	return points
}
