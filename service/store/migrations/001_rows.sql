-- What is kept, by class and by whose it is. Data that is null is no row: a transaction that has
-- looked for one holds its place by it.
CREATE TABLE coeval_rows (
	class {text} NOT NULL,
	scope {small} NOT NULL,
	whose {text} NOT NULL,
	schema {int} NOT NULL,
	data {bytes},
	PRIMARY KEY (class, scope, whose)
) {updated};

-- What the numbers in coeval_rows.schema mean.
CREATE TABLE coeval_schemas (
	hash {int} PRIMARY KEY,
	text {text} NOT NULL
) {plain};

-- Who may write: of those who claimed a subject the one with the highest epoch.
CREATE TABLE coeval_fences (
	subject {text} PRIMARY KEY,
	epoch {int} NOT NULL,
	owner {text} NOT NULL
) {plain};

-- What was answered to each request, by its name.
CREATE TABLE coeval_answers (
	world {int} NOT NULL,
	tick {int} NOT NULL,
	asker {int} NOT NULL,
	ordinal {int} NOT NULL,
	answer {bytes} NOT NULL,
	PRIMARY KEY (world, tick, asker, ordinal)
) {plain};
