package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/vt/sqlparser"
)

type account struct{ user, password string }

type database struct {
	addr   string
	server *server.Server
}

// owner is whom the seed is loaded as.
var owner = sql.Client{User: "seed", Address: "localhost"}

// open fills an engine with the seed, makes the account and listens.
func open(listen, seed string, who account) (*database, error) {
	provider := memory.NewDBProvider()
	provider.WithOption(memory.NativeIndexProvider(true))
	engine := sqle.NewDefault(provider)
	accounts := engine.Analyzer.Catalog.MySQLDb
	accounts.SetPersister(&mysql_db.NoopPersister{})
	editor := accounts.Editor()
	accounts.AddLockedSuperUser(editor, owner.User, owner.Address, "") // locked: nobody can log in as it
	editor.Close()
	base := sql.NewBaseSessionWithClientServer("", owner, 1)
	session := sql.NewContext(context.Background(), sql.WithSession(memory.NewSession(base, provider)))
	if err := load(session, engine, seed); err != nil {
		return nil, err
	}
	if err := grant(session, engine, provider, who); err != nil {
		return nil, err
	}
	// The engine lets every account read and write the machine's files (LOAD_FILE, INTO OUTFILE),
	// in this directory, which does not exist.
	if err := sql.SystemVariables.AssignValues(map[string]any{"secure_file_priv": "/nonexistent/demodb"}); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	config := server.Config{
		Protocol: "tcp", Address: listener.Addr().String(), Listener: listener,
		Options: []server.Option{withKill},
	}
	s, err := server.NewServer(config, engine, sql.NewContext, memory.NewSessionBuilder(provider), nil)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return &database{addr: listener.Addr().String(), server: s}, nil
}

func (d *database) serve() error { return d.server.Start() }
func (d *database) close() error { return d.server.Close() }

// load runs the statements of an SQL file one by one and names the one that fails.
func load(ctx *sql.Context, engine *sqle.Engine, text string) error {
	for n := 1; strings.TrimSpace(text) != ""; n++ {
		_, next, err := sqlparser.ParseOne(ctx, text)
		if errors.Is(err, sqlparser.ErrEmpty) { // comments at the end
			return nil
		}
		if err != nil {
			return fmt.Errorf("seed: statement %d: %w", n, err)
		}
		statement := text
		if next > 0 && next < len(text) {
			statement, text = text[:next], text[next:]
		} else {
			text = ""
		}
		if err := execute(ctx, engine, strings.TrimRight(strings.TrimSpace(statement), ";")); err != nil {
			return fmt.Errorf("seed: statement %d: %w", n, err)
		}
	}
	return nil
}

// grant makes the one account that can log in.
func grant(ctx *sql.Context, engine *sqle.Engine, provider *memory.DbProvider, who account) error {
	quote := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	name := fmt.Sprintf("'%s'@'%%'", quote.Replace(who.user))
	statements := []string{fmt.Sprintf("CREATE USER %s IDENTIFIED BY '%s'", name, quote.Replace(who.password))}
	for _, db := range provider.AllDatabases(ctx) {
		schema := strings.ReplaceAll(db.Name(), "`", "``")
		statements = append(statements, fmt.Sprintf("GRANT SELECT ON `%s`.* TO %s", schema, name))
	}
	for _, statement := range statements {
		if err := execute(ctx, engine, statement); err != nil {
			return errors.New("the account could not be made: choose a plainer DEMO_DB_USER and DEMO_DB_PASSWORD")
		}
	}
	return nil
}

func execute(ctx *sql.Context, engine *sqle.Engine, statement string) error {
	_, rows, _, err := engine.Query(ctx, statement)
	if err != nil {
		return err
	}
	_, err = sql.RowIterToRows(ctx, rows)
	return err
}
