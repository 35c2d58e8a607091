package mistakes

import "time"

func (b *Ball) comments() {
	//coeval:allow clock -- shown on screen only, never kept
	_ = time.Now()
	_ = time.Now() //coeval:allow clock -- shown on screen only
	//coeval:allow clock, global -- both are for the profiler
	total += int(time.Now().Unix())
	_ = time.Now() //coeval:allow clock // want `say why this is harmless: //coeval:allow clock -- REASON \[allow\]`
	_ = time.Now() //coeval:allow clock --   // want `say why this is harmless`
	_ = b.X        //coeval:allow clock -- nothing here // want `there is no finding of category clock here to allow; remove it`
	_ = time.Now() //coeval:allow io -- wrong category // want `time.Now is bound` `there is no finding of category io`
	_ = time.Now() //coeval:allow clocks -- no such thing // want `time.Now is bound` `"clocks" is not a category`
	_ = time.Now() //coeval:allow // want `time.Now is bound` `say what is allowed`
	_ = time.Now() // coeval:allow clock -- a space // want `time.Now is bound` `without a space`
	_ = time.Now() //coeval:allow allow -- not this // want `time.Now is bound` `"allow" is not a category`
	_ = time.Now() //coeval:allowed is another word // want `time.Now is bound`
	b.profile()
	//coeval:allow clock -- the statement begins on the next line
	b.Hits = max(
		3,
		int(time.Now().Unix()),
	)
	//coeval:allow unchecked -- only looked for on request
	b.hit()
}

// profile counts.
//
//coeval:allow global,clock -- the profiler is not part of the game
func (b *Ball) profile() {
	total++
	_ = time.Now()
}
