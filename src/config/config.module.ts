import { Global, Module } from '@nestjs/common';
import { ConfigModule as NestConfigModule, registerAs } from '@nestjs/config';
import { AppConfig, readSettings } from './environment.js';

/** The settings under @nestjs/config's own token; tests override this one. */
export const appConfig = registerAs('tollgate', readSettings);

@Global()
@Module({
  // The settings are read in one place, for the commands as well.
  imports: [NestConfigModule.forRoot({ load: [appConfig], cache: true, ignoreEnvFile: true })],
  providers: [{ provide: AppConfig, useExisting: appConfig.KEY }],
  exports: [AppConfig],
})
export class ConfigModule {}
