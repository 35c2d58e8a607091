package codec

// A Model is a schema with the tables that belong to it, laid out for coding.
// It is immutable once made and may be shared by any number of encoders and
// decoders; both sides must hold the same one (compare Hash).
type Model struct {
	schema  Schema
	classes []classModel
	hash    [32]byte
}

// classModel is the program by which one class is coded: discrete fields
// first, because they select the set of weights by which the others are
// predicted, then numbers, then rotations.
type classModel struct {
	fields    []Field
	reference bool
	reckon    func(h *History, now []int32)
	discretes int // how many discrete fields there are
	most      int // bytes that an entity can take

	changed   changeModel
	quiet     decision // did none of the fields in rare change
	rare      []discreteModel
	anyFrozen decision        // after those: did any of the fields in frozen change
	frozen    []discreteModel // never seen to change
	frequent  []discreteModel
	heading   heading
	numbers   []numberModel
	rotations []rotationModel
	points    [][3]int       // positions in space, as indices into numbers
	errors    []*errorTables // of all fields

	defaults []int32 // the image an entity starts from where there is no base
	lists    fieldLists
	still    []bool  // by field: numbers that hardly ever move, treated as discrete
	moved    [3]bool // which of factMoved1 to factMoved3 are looked at by any decision
}

// discrete lists the discrete fields in the order in which they are coded.
func (m *classModel) discrete() []*discreteModel {
	list := make([]*discreteModel, 0, m.discretes)
	for _, group := range [][]discreteModel{m.frequent, m.rare, m.frozen} {
		for i := range group {
			list = append(list, &group[i])
		}
	}
	return list
}

// fieldLists holds the discrete fields that facts are gathered about, so that the others cost
// nothing.
type fieldLists struct {
	past   []*discreteModel // whose past is looked at
	now    []*discreteModel // rare ones whose outcome is
	rare   []int            // where rare and frozen fields are in the image
	frozen []int            // where frozen fields are
}

// context picks a table by up to maxContext of the small facts that were
// gathered about an entity so far.
type context struct {
	n       uint8
	slots   [maxContext]uint16
	strides [maxContext]int32 // 0 where there is no slot
	size    int32             // the product of the slots' cardinalities
}

const (
	maxContext     = 3
	maxContextSize = 512
)

// index is the table that applies to the facts.
func (c *context) index(facts *[maxFacts]uint8) int {
	return int(int32(facts[c.slots[0]%maxFacts])*c.strides[0] +
		int32(facts[c.slots[1]%maxFacts])*c.strides[1] +
		int32(facts[c.slots[2]%maxFacts])*c.strides[2])
}

// add lets the context look at one more fact.
func (c *context) add(fact int, cardinality int32) {
	c.slots[c.n], c.strides[c.n] = uint16(fact), c.size
	c.n++
	c.size *= cardinality
}

// decision is one symbol with a distribution for each context.
type decision struct {
	context
	tables []table
}

// changeModel says whether an entity changed at all.
type changeModel struct {
	decision
	looks [3]bool // which of factMoved1 to factMoved3 it looks at
}

// discreteModel codes a field that is set rather than moved: a symbol for
// each of the likeliest differences from the base, and one more for an escape
// after which the difference follows.
type discreteModel struct {
	field   int
	index   int     // among the discrete fields of the class
	symbols []int32 // differences; at most tableSize-1
	decision
	escape    *errorTables
	escapeBin int     // the size of a difference that is no symbol is not predicted
	values    []int32 // the likeliest values, for use as a context

	uses              [discreteFacts]bool
	usesPast, usesNow bool
}

// numberModel codes a field that moves: a prediction in 1/256 of a unit, the
// expected size of its error, and the residual under the distribution that
// belongs to that size.
type numberModel struct {
	field int
	index int // among the numbers of the class
	rate  int // index of the number that holds its rate, or -1

	wraps    bool
	wide     bool // its features must be clamped
	min, max int64
	mid      int64
	span     int64
	features int // where its features start
	logs     int // and its logarithms
	fact     int // and its facts

	choose context // which of the predictors applies
	sets   []predictor
	errors *errorTables

	uses      [numberFeatures]bool
	usesLog   [numberLogs]bool
	usesLogs  bool
	usesBase  bool
	usesNow   bool
	usesMiss  bool
	usesRates int // how many of rate1 to rate3 are needed
}

// predictor is a weighted sum of an entity's features, and another of their
// logarithms that gives the expected size of the first one's error.
type predictor struct {
	n, logN uint8
	terms   [maxWeights]term
	logs    [maxLogWeights]term
	logBias int64 // in 1/weightOne of an eighth of an octave
}

// term is one feature or logarithm with its weight, in 1/weightOne.
type term struct {
	slot   uint16
	weight int32
}

// rotationModel codes the four fields of a quaternion together.
type rotationModel struct {
	field   int
	low     int32 // the least value of a part
	top     int32 // how far the greatest lies above it
	unit    int64 // turns a part into fixed point, in 1/65536
	perUnit int64 // and back, in 1/256 of a part for each rotOne

	choose  context        // which of the predictors applies
	sets    []predictor    // features are turns here; the sum is a rotation vector
	parts   [3][]predictor // of these only the logarithms count
	largest []table        // how many components were predicted larger than the one that is
	errors  *errorTables

	usesLog  [rotationLogs]bool
	usesPast int // how many images before the base are looked at
}

const (
	weightBits = 14
	weightOne  = 1 << weightBits
	maxWeight  = 64 * weightOne

	maxWeights    = 5  // features in a predictor
	maxLogWeights = 4  // and logarithms
	maxSets       = 48 // predictors of a number
)
