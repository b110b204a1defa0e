package bootstrap

import (
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/toolboundary/toolboundary/adapters/memory"
	"github.com/toolboundary/toolboundary/cmd/app/commands"
	"github.com/toolboundary/toolboundary/config"
	"github.com/toolboundary/toolboundary/ports"
)

// memoryModule is the store in memory.
func memoryModule() fx.Option {
	return fx.Module("memory",
		member(groupStores, newMemory),
		member(groupExaminers, func() commands.Examiner { return commands.ExamineMemory }),
	)
}

func newMemory(clock ports.Clock, log *zap.Logger) storeKind {
	return storeKind{config.StoreMemory, func() (ports.Store, error) {
		log.Warn("the memory store is in use: runs and records end with this process")
		return memory.New(clock), nil
	}}
}
