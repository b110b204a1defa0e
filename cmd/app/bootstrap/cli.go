package bootstrap

import (
	"go.uber.org/fx"

	"github.com/toolboundary/toolboundary/adapters/cli"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
)

// command puts what a command does into its place.
type command func(*cli.Functions)

// cliModule is the command line, with the commands that belong to no other adapter.
func cliModule() fx.Option {
	return fx.Module("cli",
		fx.Provide(taking(0, groupCommands, newFunctions)),
		member(groupCommands, configCommands, serviceCommands, versionCommand),
		fx.Provide(fx.Annotate(doctorCommand, fx.ParamTags("", groupExaminers), fx.ResultTags(groupCommands))),
	)
}

// newFunctions collects the commands.
func newFunctions(all []command) cli.Functions {
	var f cli.Functions
	for _, put := range all {
		put(&f)
	}
	return f
}

func configCommands(p *parts) command {
	c := commands.Config{Loader: p.loader(), Tools: p.buildTools}
	return func(f *cli.Functions) { f.ConfigCheck, f.ConfigSchema = c.Check, c.Schema }
}

func doctorCommand(p *parts, examiners []commands.Examiner) command {
	d := commands.Doctor{Loader: p.loader(), Examiners: examiners, Tools: p.buildTools}
	return func(f *cli.Functions) { f.Doctor = d.Examine }
}

func serviceCommands(p *parts) command {
	c := commands.Service{Loader: p.loader()}
	return func(f *cli.Functions) { f.RunOverview, f.RunCancel, f.Record = c.Overview, c.Cancel, c.Record }
}

func versionCommand(p *parts) command {
	return func(f *cli.Functions) {
		f.Version = func(asJSON bool, s cli.Streams) error { return commands.PrintVersion(p.version, asJSON, s) }
	}
}
