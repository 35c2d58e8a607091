-- What is registered: each place of each entry, as it was announced and proved.
CREATE TABLE coeval_directory_places (
	id {text} NOT NULL,
	place {text} NOT NULL,
	lease {text} NOT NULL,
	since {int} NOT NULL,
	announcement {bytes} NOT NULL,
	PRIMARY KEY (id, place)
) {updated};
