"""The controller of DynamoGraphDeployment."""
