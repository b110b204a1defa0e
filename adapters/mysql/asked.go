package mysql

import (
	"encoding/json"

	"github.com/toolboundary/toolboundary/adapters/mysql/sqlguard"
	"github.com/toolboundary/toolboundary/domain/fault"
	"github.com/toolboundary/toolboundary/ports/cell"
	"github.com/toolboundary/toolboundary/ports/rowset"
)

// asked says what a plan asks of a data source, for the row set: the statement in the agent's names
// with the values of its placeholders as they were bound. It is nil for an operator's statement.
func asked(source string, plan *sqlguard.Plan) (*rowset.Asked, error) {
	if plan.Asked == "" {
		return nil, nil
	}
	params := make([]json.RawMessage, len(plan.Args))
	for i, value := range plan.Args {
		var err error
		if params[i], err = cell.Marshal(value); err != nil {
			return nil, fault.Wrap(fault.Internal, err)
		}
	}
	return &rowset.Asked{DataSource: source, Statement: plan.Asked, Offset: plan.Offset, Params: params}, nil
}
