-- What the directory alone knows, such as what its receipts are sealed with.
CREATE TABLE coeval_directory_secrets (
	name {text} PRIMARY KEY,
	value {bytes} NOT NULL
) {plain};

-- Which results have been counted, by the server's own name of the match.
CREATE TABLE coeval_directory_results (
	entry {text} NOT NULL,
	match {text} NOT NULL,
	reported {int} NOT NULL,
	result {bytes} NOT NULL,
	PRIMARY KEY (entry, match)
) {plain};

CREATE INDEX coeval_directory_results_reported ON coeval_directory_results (reported);

-- Leaderboards, and how results count in each.
CREATE TABLE coeval_directory_boards (
	game {text} NOT NULL,
	board {text} NOT NULL,
	how {text} NOT NULL,
	PRIMARY KEY (game, board)
) {plain};

-- Who stands where on them.
CREATE TABLE coeval_directory_scores (
	game {text} NOT NULL,
	board {text} NOT NULL,
	client {text} NOT NULL,
	name {text} NOT NULL,
	value {int} NOT NULL,
	matches {int} NOT NULL,
	PRIMARY KEY (game, board, client)
) {updated};

CREATE INDEX coeval_directory_scores_order
	ON coeval_directory_scores (game, board, value DESC, client);
