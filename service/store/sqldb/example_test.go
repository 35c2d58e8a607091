package sqldb_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/coeval-dev/coeval/service/store/sqldb"
)

// A service has a database of its own, with tables that its migrations make.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sqldb")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	kind := &sqldb.Kind{Table: "bans", Format: "bans of a shop", Migrations: []sqldb.Migration{
		{Version: 1, Text: "CREATE TABLE banned (who {text} PRIMARY KEY) {plain};\n"}}}
	db, err := sqldb.Open(ctx, filepath.Join(dir, "shop.db"), true)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	is, err := db.Migrate(ctx, kind, sqldb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	err = db.Within(ctx, false, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, db.Bind(`INSERT INTO banned (who) VALUES (?1)`), "eve")
		return err
	})
	fmt.Println(db.Kind(), is.Version, err)
	// Output: SQLite 1 <nil>
}
