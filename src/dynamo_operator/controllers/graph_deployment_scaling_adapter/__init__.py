"""The controller of DynamoGraphDeploymentScalingAdapter."""
